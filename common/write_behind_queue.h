// Things that are to be written to a table later, by one writer at a time.
//
//   Threads  any call from any thread.
#pragma once

#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "common/completion.h"
#include "common/task.h"

namespace halite {

template <class T>
class WriteBehindQueue {
 public:
  // Calls step(std::vector<T>& waiting), which adds to the end of it what it likes and may do more:
  // no flush_rows() takes its turn in between. Short; its error is passed on.
  template <class Step>
  Result<void> add(Step step) {
    const std::lock_guard lock(mutex_);
    return step(waiting_);
  }

  [[nodiscard]] bool empty() const {
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && !writing_;
  }

  // Afterwards all that was added before the call has gone through write(const std::vector<T>&), a
  // Task<void>, in the order it came; after an error it waits for the next flush_rows(), which may
  // write some of it again.
  template <class Write>
  Task<void> flush_rows(Write write) {
    for (;;) {
      Turn turn(*this);
      if (turn.others) {
        const Result<void> waited = co_await turn.others->wait();
        static_cast<void>(waited);  // if it failed, its items are ours now
        continue;
      }
      if (turn.items.empty()) co_return Result<void>();
      CO_TRY_VOID(co_await write(turn.items));
      turn.items.clear();
      co_return Result<void>();
    }
  }

 private:
  // One writer's turn, or somebody else's to wait for. What it has not written goes back, also when
  // its coroutine is thrown away.
  struct Turn {
    explicit Turn(WriteBehindQueue& owner) : backlog(owner) {
      const std::lock_guard lock(backlog.mutex_);
      if (backlog.writing_) {
        others = backlog.writing_;
      } else if (!backlog.waiting_.empty()) {
        items.swap(backlog.waiting_);
        backlog.writing_ = done;
      }
      ours = !items.empty();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (!ours) return;
      {
        const std::lock_guard lock(backlog.mutex_);
        backlog.writing_.reset();
        backlog.waiting_.insert(backlog.waiting_.begin(), std::make_move_iterator(items.begin()),
                                std::make_move_iterator(items.end()));
      }
      done.finish({});
    }

    WriteBehindQueue& backlog;
    Completion done;
    std::optional<Completion> others;
    std::vector<T> items;
    bool ours = false;
  };

  mutable std::mutex mutex_;
  std::vector<T> waiting_;             // guarded by mutex_
  std::optional<Completion> writing_;  // somebody is at it; guarded by mutex_
};

}  // namespace halite
