// The calls of one connection that are still to be written or answered.
//
//   Threads  any call from any thread. Who takes a call out sets its outcome, then finishes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/completion.h"
#include "storage/backends/hbase/rpc/fault.h"

namespace halite::storage::hbase {

struct Reply {
  std::shared_ptr<const Bytes> frame;  // what the views point into
  BytesView message;
  BytesView cellblock;
};

struct PendingCall {
  std::uint32_t id = 0;
  Bytes frame;
  Bytes cellblock;
  std::chrono::steady_clock::time_point deadline;
  std::uint32_t timeout_ms = 0;
  bool sent = false;  // or it is just being written; settled once it was taken out
  Outcome<Reply> outcome;
  Completion done;

  [[nodiscard]] std::size_t bytes() const { return frame.size() + cellblock.size(); }
};
using PendingCallPtr = std::shared_ptr<PendingCall>;

class PendingCalls {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Not that of any call in here, nor one that has a meaning of its own.
  [[nodiscard]] std::uint32_t new_id();

  // The last in line. True: nobody writes, so somebody has to begin. The error: why it is broken.
  [[nodiscard]] Result<bool> add(PendingCallPtr call);

  // Some of the line, to be written together. None: from now on nobody writes.
  [[nodiscard]] std::vector<PendingCallPtr> next_to_write();

  // The one that was answered; null: it is not in here any more.
  [[nodiscard]] PendingCallPtr take(std::uint32_t id);
  [[nodiscard]] std::vector<PendingCallPtr> take_expired(TimePoint now);

  // All that are in here; none can be added any more. Nothing: it was broken already.
  [[nodiscard]] std::optional<std::vector<PendingCallPtr>> break_off(const Error& why);
  [[nodiscard]] std::optional<Error> broken() const;

  [[nodiscard]] bool empty() const;
  // Something was once.
  [[nodiscard]] bool answered() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::uint32_t last_id_ = 0;
  std::unordered_map<std::uint32_t, PendingCallPtr> open_;
  std::deque<PendingCallPtr> line_;  // not yet written; some may have expired
  bool writing_ = true;              // a writer is there, or one comes after the greeting
  bool answered_ = false;
  std::optional<Error> broken_;
};

}  // namespace halite::storage::hbase
