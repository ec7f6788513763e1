// Items that are written to a table later, by one writer at a time.
//
//   Threads  call from any thread.
#pragma once

#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

#include "common/threads/completion.h"
#include "common/threads/task.h"

namespace halite {

template <class T>
class WriteBehindQueue {
 public:
  // Calls step(std::vector<T>& waiting), which may append items and do more. No flush_rows() takes
  // items meanwhile. Keep it short. Returns its error.
  template <class Step>
  Result<void> add(Step step) {
    const std::lock_guard lock(mutex_);
    return step(waiting_);
  }

  [[nodiscard]] bool empty() const {
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && !writing_;
  }

  // Writes all items added before the call, in order, by write(const std::vector<T>&), which
  // returns a Task<void>. After an error the items wait for the next flush_rows(), which may write
  // some of them again.
  template <class Write>
  Task<void> flush_rows(Write write) {
    for (;;) {
      Turn turn(*this);
      if (turn.others) {
        const Result<void> waited = co_await turn.others->wait();
        static_cast<void>(waited);  // if it failed, this call takes over its items
        continue;
      }
      if (turn.items.empty()) co_return Result<void>();
      CO_TRY_VOID(co_await write(turn.items));
      turn.items.clear();
      co_return Result<void>();
    }
  }

 private:
  // The turn of one writer, ours or another's that we wait for. Items not written go back, even if
  // the coroutine is destroyed.
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
  std::optional<Completion> writing_;  // set while a writer is at work; guarded by mutex_
};

}  // namespace halite
