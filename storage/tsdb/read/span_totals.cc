#include "storage/tsdb/read/span_totals.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halite::storage::engine {

void SummaryPlan::begin(TimeRange range) {
  range_ = range;
  first_ = (range.begin + kSummarySpanMs - 1) / kSummarySpanMs * kSummarySpanMs;
  const TimestampMs last = range.end / kSummarySpanMs * kSummarySpanMs;
  decode_.assign(
      static_cast<std::size_t>(std::max<std::int64_t>(0, last - first_)) / kSummarySpanMs, 0);
  totals_.clear();
}

void SummaryPlan::decode(TimeRange times) {
  if (times.begin >= times.end) return;
  for (std::size_t hour = 0; hour < decode_.size(); ++hour) {
    const TimestampMs begin = time_of(hour);
    if (times.begin < begin + kSummarySpanMs && times.end > begin) decode_[hour] = 1;
  }
}

bool SummaryPlan::any() const { return std::ranges::find(decode_, 0) != decode_.end(); }

void SummaryPlan::take(const chunk::Summaries& summaries, const TotalsRequest& totals_request) {
  // Sums of whole numbers are exact up to this value, in any order.
  const std::int64_t spans = totals_request.bucket_ms / kSummarySpanMs;
  const double most = 0x1p53 / static_cast<double>(spans);
  const auto exact = [most](const chunk::SpanSummary& span) {
    return span.sum_exact &&
           std::max(std::fabs(span.min), std::fabs(span.max)) * span.count <= most;
  };
  const TimestampMs end = time_of(decode_.size());
  totals_.reserve(std::min(decode_.size(), summaries.spans.size()));
  for (const chunk::SpanSummary& span : summaries.spans) {
    if (span.begin < first_ || span.begin >= end) continue;
    std::uint8_t& decode = decode_[hour_of(span.begin)];
    if (span.decode_only || (totals_request.sums && !exact(span))) decode = 1;
    totals_.push_back({.begin = span.begin,
                       .count = span.count,
                       .sum = span.sum,
                       .min = span.min,
                       .max = span.max});
  }
  if (totals_request.sums && totals_request.bucket_ms > kSummarySpanMs)
    decode_whole_buckets(totals_request.bucket_ms);
  std::erase_if(totals_,
                [this](const SpanTotals& span) { return decode_[hour_of(span.begin)] != 0; });
}

// Incomplete hours at the edges are decoded, and so is the bucket that contains them.
void SummaryPlan::decode_whole_buckets(std::int64_t bucket_ms) {
  std::size_t hour = 0;
  while (hour < decode_.size()) {
    const TimestampMs bucket = time_of(hour) - time_of(hour) % bucket_ms;
    std::size_t end = hour;
    bool decode = bucket < first_ && range_.begin < first_;
    for (; end < decode_.size() && time_of(end) < bucket + bucket_ms; ++end) {
      decode |= decode_[end] != 0;
    }
    decode |= end == decode_.size() && time_of(end) < std::min(range_.end, bucket + bucket_ms);
    for (; hour < end; ++hour) decode_[hour] = decode ? 1 : decode_[hour];
  }
}

std::span<SummaryPlan::Piece> SummaryPlan::pieces() {
  std::vector<Piece>& pieces = pieces_;
  pieces.clear();
  const auto add = [&pieces](TimeRange range, bool decode) {
    if (range.begin >= range.end) return;
    if (pieces.empty() || pieces.back().decode != decode) {
      pieces.push_back({.range = range, .decode = decode, .totals = {}});
    } else {
      pieces.back().range.end = range.end;
    }
  };
  add({.begin = range_.begin, .end = std::min(first_, range_.end)}, true);
  for (std::size_t hour = 0; hour < decode_.size(); ++hour) {
    add({.begin = time_of(hour), .end = time_of(hour + 1)}, decode_[hour] != 0);
  }
  add({.begin = std::max(range_.begin, time_of(decode_.size())), .end = range_.end}, true);
  std::size_t next = 0;
  for (Piece& piece : pieces) {
    if (piece.decode) continue;
    if (pieces.size() == 1) {
      piece.totals = std::exchange(totals_, {});
      break;
    }
    for (; next < totals_.size() && totals_[next].begin < piece.range.end; ++next) {
      piece.totals.push_back(totals_[next]);
    }
  }
  return pieces;
}

}  // namespace halite::storage::engine
