// Counts background tasks, so that close() can wait for their end.
//
//   Threads  Call from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "common/threads/completion.h"
#include "common/threads/task.h"

namespace halite::storage::hbase {

class TaskTracker {
 public:
  // Each task keeps one until its end. Null after end().
  class Token {
   public:
    explicit Token(Completion ended) : ended_(std::move(ended)) {}
    Token(const Token&) = delete;
    ~Token() { ended_.finish({}); }

   private:
    const Completion ended_;
  };
  using TokenPtr = std::shared_ptr<const Token>;

  [[nodiscard]] TokenPtr token() const {
    const std::lock_guard lock(mutex_);
    return own_;
  }

  // Grants no more tokens; finishes once all are released.
  Task<void> end() {
    TokenPtr own;
    {
      const std::lock_guard lock(mutex_);
      own.swap(own_);
    }
    own.reset();
    Task<void> waiting = ended_.wait();
    co_return co_await std::move(waiting);
  }

 private:
  const Completion ended_;
  mutable std::mutex mutex_;
  TokenPtr own_ = std::make_shared<const Token>(ended_);  // guarded by mutex_
};

}  // namespace halite::storage::hbase
