// The calls of one connection that wait to be written or answered.
//
//   Threads  Call from any thread. If you take a call out, set its outcome, then finish it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/threads/completion.h"
#include "storage/backends/hbase/rpc/fault.h"

namespace halite::storage::hbase {

struct Reply {
  std::shared_ptr<const Bytes> frame;  // the views point into it
  BytesView message;
  BytesView cellblock;
};

struct PendingCall {
  std::uint32_t id = 0;
  Bytes frame;
  Bytes cellblock;
  std::chrono::steady_clock::time_point deadline;
  std::uint32_t timeout_ms = 0;
  bool sent = false;  // written, or being written; final once the call is taken out
  Outcome<Reply> outcome;
  Completion done;

  [[nodiscard]] std::size_t bytes() const { return frame.size() + cellblock.size(); }
};
using PendingCallPtr = std::shared_ptr<PendingCall>;

class PendingCalls {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Unused by pending calls, and not a reserved number.
  [[nodiscard]] std::uint32_t new_id();

  // Adds a call to the queue. True: start a writer, for none is active. An error: why the
  // connection broke.
  [[nodiscard]] Result<bool> add(PendingCallPtr call);

  // Takes some of the queue, to be written together. None: the writer must stop.
  [[nodiscard]] std::vector<PendingCallPtr> next_to_write();

  // Takes the answered call; null if it is gone.
  [[nodiscard]] PendingCallPtr take(std::uint32_t id);
  [[nodiscard]] std::vector<PendingCallPtr> take_expired(TimePoint now);

  // Takes all calls and accepts no more. Nothing: it was broken already.
  [[nodiscard]] std::optional<std::vector<PendingCallPtr>> break_off(const Error& why);
  [[nodiscard]] std::optional<Error> broken() const;

  [[nodiscard]] bool empty() const;
  // Whether any call was answered.
  [[nodiscard]] bool answered() const;

 private:
  mutable std::mutex mutex_;
  // mutex_ guards these.
  std::uint32_t last_id_ = 0;
  std::unordered_map<std::uint32_t, PendingCallPtr> open_;
  std::deque<PendingCallPtr> line_;  // not yet written; some may have timed out
  bool writing_ = true;              // a writer is active, or starts after the greeting
  bool answered_ = false;
  std::optional<Error> broken_;
};

}  // namespace halite::storage::hbase
