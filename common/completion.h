// An outcome that arrives once and that any number of coroutines may await.
//
//   Threads  finish() and wait() may be called from any thread, in any order.
//   Copies   share the one outcome.
#pragma once

#include <memory>

#include "common/task.h"

namespace halite {

class Completion {
 public:
  Completion();

  // Already finished well: for work that was durable before it returned.
  static Completion done();

  // Wakes all who wait, now and later. Only the first call counts.
  void finish(Result<void> outcome) const;

  [[nodiscard]] bool finished() const;

  // Returns the outcome, at once if it is there already. Resumes on the caller's executor.
  [[nodiscard]] Task<void> wait() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace halite
