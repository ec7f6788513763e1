#include "query/answer/answer_memory.h"

#include <utility>

#include <fmt/format.h>

namespace halite::query {

class AnswerReservation {
 public:
  AnswerReservation(std::shared_ptr<std::atomic<std::uint64_t>> taken, std::uint64_t bytes)
      : taken_(std::move(taken)), bytes_(bytes) {}
  ~AnswerReservation() { *taken_ -= bytes_; }
  AnswerReservation(const AnswerReservation&) = delete;

 private:
  const std::shared_ptr<std::atomic<std::uint64_t>> taken_;
  const std::uint64_t bytes_;
};

std::uint64_t answer_bytes(const Answer& answer) {
  // For a tag, a TSUID or an annotation: two short texts and the overhead of their containers.
  constexpr std::uint64_t kTextsBytes = 100;
  std::uint64_t bytes = sizeof(Answer) + answer.global_annotations.size() * kTextsBytes;
  for (const AnswerSeries& series : answer.series) {
    const std::size_t texts = series.tags.size() + series.aggregate_tags.size() +
                              series.tag_ids.size() + series.aggregate_tag_ids.size() +
                              series.tsuids.size() + series.annotations.size();
    bytes += sizeof(AnswerSeries) + texts * kTextsBytes +
             series.times.capacity() * sizeof(TimestampMs) +
             series.values.capacity() * sizeof(ValueBits) + series.floats.capacity() / 8;
  }
  return bytes;
}

AnswerMemory::AnswerMemory(std::uint64_t bytes_max)
    : bytes_max_(bytes_max), taken_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

Result<std::shared_ptr<const AnswerReservation>> AnswerMemory::take(std::uint64_t bytes) {
  const std::uint64_t before = taken_->fetch_add(bytes);
  auto held = std::make_shared<const AnswerReservation>(taken_, bytes);
  if (before == 0 || before + bytes <= bytes_max_ || bytes <= kSmallBytes) return held;
  return fail(Errc::kOverloaded,
              fmt::format("unread answers use too much memory (query.answers_bytes_max, {} bytes); "
                          "try again later, or raise that setting",
                          bytes_max_));
}

}  // namespace halite::query
