// Limits the memory of answers that are being sent. A client that reads slowly keeps a whole answer
// in memory until it has read it or its connection times out.
//
//   Threads   Call from any thread.
//   Lifetime  A reservation may outlive the object that granted it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/result.h"
#include "query/answer.h"

namespace halite::query {

// The approximate memory that an answer uses.
[[nodiscard]] std::uint64_t answer_bytes(const Answer& answer);

class AnswerMemory {
 public:
  explicit AnswerMemory(std::uint64_t bytes_max);

  // An answer of at most this size always gets a reservation, even if slow clients use all memory.
  static constexpr std::uint64_t kSmallBytes = 64 << 10;

  // Released with the last copy of the result. kOverloaded: not enough memory is left. An answer
  // that is larger than the limit must be the only one.
  [[nodiscard]] Result<std::shared_ptr<const AnswerReservation>> take(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t taken() const { return *taken_; }  // bytes

 private:
  const std::uint64_t bytes_max_;
  const std::shared_ptr<std::atomic<std::uint64_t>> taken_;
};

}  // namespace halite::query
