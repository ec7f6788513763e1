// An outcome that arrives once. Any number of coroutines may await it.
//
//   Threads  call finish() and wait() from any thread, in any order.
//   Copies   share one outcome.
#pragma once

#include <memory>

#include "common/threads/task.h"

namespace halite {

class Completion {
 public:
  Completion();

  // A completion that has already succeeded, for work that was durable before it returned.
  static Completion done();

  // Resumes all current and future waiters. Only the first call has an effect.
  void finish(Result<void> outcome) const;

  [[nodiscard]] bool finished() const;

  // Returns the outcome, at once if it has arrived. Resumes on the caller's executor.
  [[nodiscard]] Task<void> wait() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace halite
