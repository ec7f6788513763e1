#include "storage/backends/hbase/rpc/pending_calls.h"

#include <utility>

#include "storage/backends/hbase/rpc/frame.h"

namespace halite::storage::hbase {

namespace {

constexpr std::size_t kWriteBytesMax = 1 << 20;  // gathered into one write
constexpr std::size_t kWriteCallsMax = 256;

}  // namespace

std::uint32_t PendingCalls::new_id() {
  const std::lock_guard lock(mutex_);
  do {
    ++last_id_;
  } while (last_id_ == 0 || last_id_ == kConnectionCallId || open_.contains(last_id_));
  return last_id_;
}

Result<bool> PendingCalls::add(PendingCallPtr call) {
  const std::lock_guard lock(mutex_);
  if (broken_) return std::unexpected(*broken_);
  open_.emplace(call->id, call);
  line_.push_back(std::move(call));
  return !std::exchange(writing_, true);
}

std::vector<PendingCallPtr> PendingCalls::next_to_write() {
  std::vector<PendingCallPtr> batch;
  std::size_t bytes = 0;
  const std::lock_guard lock(mutex_);
  while (!line_.empty() && bytes < kWriteBytesMax && batch.size() < kWriteCallsMax) {
    PendingCallPtr call = std::move(line_.front());
    line_.pop_front();
    if (!open_.contains(call->id)) continue;  // it has timed out
    call->sent = true;
    bytes += call->bytes();
    batch.push_back(std::move(call));
  }
  if (batch.empty()) writing_ = false;
  return batch;
}

PendingCallPtr PendingCalls::take(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  answered_ = true;
  const auto at = open_.find(id);
  if (at == open_.end()) return nullptr;
  PendingCallPtr call = std::move(at->second);
  open_.erase(at);
  return call;
}

std::vector<PendingCallPtr> PendingCalls::take_expired(TimePoint now) {
  std::vector<PendingCallPtr> expired;
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const auto& entry) {
    if (entry.second->deadline > now) return false;
    expired.push_back(entry.second);
    return true;
  });
  return expired;
}

std::optional<std::vector<PendingCallPtr>> PendingCalls::break_off(const Error& why) {
  const std::lock_guard lock(mutex_);
  if (broken_) return std::nullopt;
  broken_ = why;
  std::vector<PendingCallPtr> left;
  for (auto& [id, call] : open_) left.push_back(std::move(call));
  open_.clear();
  line_.clear();
  return left;
}

std::optional<Error> PendingCalls::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

bool PendingCalls::empty() const {
  const std::lock_guard lock(mutex_);
  return open_.empty();
}

bool PendingCalls::answered() const {
  const std::lock_guard lock(mutex_);
  return answered_;
}

}  // namespace halite::storage::hbase
