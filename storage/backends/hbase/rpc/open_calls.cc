#include "storage/backends/hbase/rpc/open_calls.h"

#include <utility>

#include "storage/backends/hbase/rpc/frame.h"

namespace halite::storage::hbase {

namespace {

constexpr std::size_t kWriteBytesMax = 1 << 20;  // gathered into one write
constexpr std::size_t kWriteCallsMax = 256;

}  // namespace

std::uint32_t OpenCalls::new_id() {
  const std::lock_guard lock(mutex_);
  do {
    ++last_id_;
  } while (last_id_ == 0 || last_id_ == kConnectionCallId || open_.contains(last_id_));
  return last_id_;
}

Result<bool> OpenCalls::add(OpenCallPtr call) {
  const std::lock_guard lock(mutex_);
  if (broken_) return std::unexpected(*broken_);
  open_.emplace(call->id, call);
  line_.push_back(std::move(call));
  return !std::exchange(writing_, true);
}

std::vector<OpenCallPtr> OpenCalls::next_to_write() {
  std::vector<OpenCallPtr> batch;
  std::size_t bytes = 0;
  const std::lock_guard lock(mutex_);
  while (!line_.empty() && bytes < kWriteBytesMax && batch.size() < kWriteCallsMax) {
    OpenCallPtr call = std::move(line_.front());
    line_.pop_front();
    if (!open_.contains(call->id)) continue;  // its time was up
    call->sent = true;
    bytes += call->bytes();
    batch.push_back(std::move(call));
  }
  if (batch.empty()) writing_ = false;
  return batch;
}

OpenCallPtr OpenCalls::take(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  answered_ = true;
  const auto at = open_.find(id);
  if (at == open_.end()) return nullptr;
  OpenCallPtr call = std::move(at->second);
  open_.erase(at);
  return call;
}

std::vector<OpenCallPtr> OpenCalls::take_expired(Moment now) {
  std::vector<OpenCallPtr> expired;
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const auto& entry) {
    if (entry.second->deadline > now) return false;
    expired.push_back(entry.second);
    return true;
  });
  return expired;
}

std::optional<std::vector<OpenCallPtr>> OpenCalls::break_off(const Error& why) {
  const std::lock_guard lock(mutex_);
  if (broken_) return std::nullopt;
  broken_ = why;
  std::vector<OpenCallPtr> left;
  for (auto& [id, call] : open_) left.push_back(std::move(call));
  open_.clear();
  line_.clear();
  return left;
}

std::optional<Error> OpenCalls::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

bool OpenCalls::empty() const {
  const std::lock_guard lock(mutex_);
  return open_.empty();
}

bool OpenCalls::answered() const {
  const std::lock_guard lock(mutex_);
  return answered_;
}

}  // namespace halite::storage::hbase
