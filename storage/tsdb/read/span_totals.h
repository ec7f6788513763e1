// Decides which hours of a slot the summary of a sealed series can replace, and which must be
// decoded.
//
//   Threads  not thread-safe.
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

// Whether hourly totals can replace points. The sum of doubles depends on the order of the
// additions. So a bucket's sum comes either from totals or from points, and no bucket may extend
// into another slot, which may differ.
[[nodiscard]] inline bool fits(const TotalsRequest& totals_request, const CyclicLayout& layout) {
  if (!has_summaries(layout) || totals_request.bucket_ms <= 0) return false;
  return totals_request.bucket_ms % kSummarySpanMs == 0 &&
         (!totals_request.sums || layout.options().span_ms % totals_request.bucket_ms == 0);
}

class SummaryPlan {
 public:
  // Starts with a range within a slot. All hours that lie completely in it are candidates.
  void begin(TimeRange range);

  // Marks times that the summary does not cover.
  void decode(TimeRange times);

  // Whether any hour can still use totals.
  [[nodiscard]] bool any() const;

  // Takes the totals of the remaining hours. Hours with unusable totals must be decoded. If sums
  // are requested, so must all hours of a bucket that contains such an hour or whose sum may be
  // inexact.
  void take(const chunk::Summaries& summaries, const TotalsRequest& totals_request);

  // A piece of the range; pieces are in time order.
  struct Piece {
    TimeRange range;
    bool decode = false;
    std::vector<SpanTotals> totals;  // if not `decode`; may be empty
  };
  [[nodiscard]] std::span<Piece> pieces();  // valid until begin()

 private:
  void decode_whole_buckets(std::int64_t bucket_ms);
  [[nodiscard]] std::size_t hour_of(TimestampMs time) const {
    return static_cast<std::size_t>((time - first_) / kSummarySpanMs);
  }
  [[nodiscard]] TimestampMs time_of(std::size_t hour) const {
    return first_ + static_cast<std::int64_t>(hour) * kSummarySpanMs;
  }

  TimeRange range_;
  TimestampMs first_ = 0;             // of the first complete hour
  std::vector<std::uint8_t> decode_;  // by complete hour
  std::vector<SpanTotals> totals_;
  std::vector<Piece> pieces_;
};

}  // namespace halite::storage::engine
