// Which of a slot's hours the summary of a sealed series may stand for, and which are to be
// decoded.
//
//   Threads  for one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/clock.h"
#include "storage/api/point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/tsdb/chunk/summary.h"
#include "storage/tsdb/chunk_db/slot_reader.h"

namespace halite::storage::engine {

// Can totals of hours stand for points? A sum of doubles depends on the order of adding, so a
// bucket's is made of totals or of points, and no bucket may reach into another slot, where it
// might not be the same.
[[nodiscard]] inline bool fits(const TotalsRequest& totals_request, const CyclicLayout& layout) {
  if (!has_summaries(layout) || totals_request.bucket_ms <= 0) return false;
  return totals_request.bucket_ms % kSummarySpanMs == 0 &&
         (!totals_request.sums || layout.options().span_ms % totals_request.bucket_ms == 0);
}

class SummaryPlan {
 public:
  // The range, which is within a slot, has hours that lie in it wholly: all of them may be told by
  // totals so far.
  void begin(TimeRange range);

  // Of these times the summary says nothing.
  void decode(TimeRange times);

  // Is there an hour left that totals may tell?
  [[nodiscard]] bool any() const;

  // Takes the totals of those hours. Hours whose totals mean nothing are to be decoded; where sums
  // are wished, all of a bucket of which one hour is, or whose sum may not be exact.
  void take(const chunk::Summaries& summaries, const TotalsRequest& totals_request);

  // In time order, what the range is made of.
  struct Piece {
    TimeRange range;
    bool decode = false;
    std::vector<SpanTotals> totals;  // where it is not to be decoded; may be none
  };
  [[nodiscard]] std::span<Piece> pieces();  // until begin()

 private:
  void decode_whole_buckets(std::int64_t bucket_ms);
  [[nodiscard]] std::size_t hour_of(TimestampMs time) const {
    return static_cast<std::size_t>((time - first_) / kSummarySpanMs);
  }
  [[nodiscard]] TimestampMs time_of(std::size_t hour) const {
    return first_ + static_cast<std::int64_t>(hour) * kSummarySpanMs;
  }

  TimeRange range_;
  TimestampMs first_ = 0;             // of the first whole hour
  std::vector<std::uint8_t> decode_;  // by whole hour
  std::vector<SpanTotals> totals_;
  std::vector<Piece> pieces_;
};

}  // namespace halite::storage::engine
