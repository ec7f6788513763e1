// Memory for answers on their way to those who asked: a client that reads slowly, or not at all,
// holds a whole answer until it has taken it or its time is over.
//
//   Threads   any call from any thread.
//   Lifetime  what is held may outlive the room.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/result.h"
#include "query/answer.h"

namespace halite::query {

// What an answer takes in memory, about.
[[nodiscard]] std::uint64_t answer_bytes(const Answer& answer);

class AnswerMemory {
 public:
  explicit AnswerMemory(std::uint64_t bytes_max);

  // An answer so small is never refused: who asks for little does not wait for who reads slowly.
  static constexpr std::uint64_t kSmallBytes = 64 << 10;

  // Given back with the last copy of what is returned. kOverloaded when so much is not left; an
  // answer that is larger than the room has it alone.
  [[nodiscard]] Result<std::shared_ptr<const AnswerReservation>> take(std::uint64_t bytes);

 private:
  const std::uint64_t bytes_max_;
  const std::shared_ptr<std::atomic<std::uint64_t>> taken_;
};

}  // namespace halite::query
