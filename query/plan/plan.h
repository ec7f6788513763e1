// How to run one sub-query: the time to read, and what each operator does.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "common/clock.h"
#include "common/result.h"
#include "query/parse/aggregator.h"
#include "query/plan/calendar.h"
#include "query/question.h"
#include "storage/api/point_store.h"
#include "storage/cells/layouts/rollup_cell.h"

namespace halite::query {

enum class BucketKind : std::uint8_t {
  kFixed,     // milliseconds since 1970, modulo the interval
  kCalendar,  // local time
  kAll,       // one bucket for the whole range
};

struct DownsamplePlan {
  const Aggregator* function = nullptr;
  BucketKind kind = BucketKind::kFixed;
  std::int64_t interval_ms = 0;  // for kFixed
  std::optional<Calendar> calendar;
  TimeRange points;              // points outside belong to no bucket or to an incomplete one
  bool average_of_sums = false;  // rollups: sums divided by counts, not `function`

  // With a fill policy, every bucket that begins in `filled` exists.
  FillPolicy fill = FillPolicy::kNone;
  TimeRange filled;
  std::uint64_t filled_count = 0;  // the approximate number of filled buckets; 0 without a policy

  // The end of the bucket that begins at `start`.
  [[nodiscard]] TimestampMs bucket_end(TimestampMs start) const;

  // The earliest bucket of a series whose first point is at `watermark` or later.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const;
};

struct SubPlan {
  const Aggregator* aggregator = nullptr;
  TimeRange asked;  // the times that the answer may contain
  TimeRange scan;   // whole rows around it: neighbours for rates and interpolation
  // Ignores buckets from here on: their rows were read only for earlier buckets.
  TimestampMs buckets_end = std::numeric_limits<TimestampMs>::max();
  std::optional<DownsamplePlan> downsample;
  std::optional<RateSpec> rate;
  bool as_stored = false;           // points are only copied: Question::as_stored
  bool empty_series_count = false;  // series with rows but without points make groups, too
  // The source is a view: its series are groups of series, and it is read in one window.
  bool from_view = false;
  // The ids that the answer contains.
  bool with_tag_ids = false;
  bool with_tsuids = false;

  // The totals that can replace a series' points. Percentiles take sketches, if from a view.
  [[nodiscard]] storage::TotalsRequest totals() const;

  // The earliest time from series whose first point is at `watermark` or later.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const;
};

// Reads rows of a rollup table instead of points.
struct PlannedRollup {
  storage::RollupInterval rows;
  bool average = false;  // sums and counts are read
};

// kTooLarge: the buckets to fill exceed output_points_max.
[[nodiscard]] Result<SubPlan> make_plan(const Question& question, const SubQuestion& sub,
                                        std::uint64_t output_points_max,
                                        const std::optional<PlannedRollup>& rollup = {});

// The plan that reads only the buckets of the time range, so less than whole hours. Nothing if
// these are most of what `whole` reads, or if the answer depends on the other rows for more than
// neighbours.
//
// OpenTSDB reads whole rows around the time range. Points outside the range are neighbours for
// interpolation where a series has no bucket. A group needs no neighbours if each member has a
// bucket at the group's first time and at its last: then the answer does not change without them.
// The engine reads only the range and checks this (engine/sub_query.cc).
[[nodiscard]] std::optional<SubPlan> narrow_plan(const Question& question, const SubPlan& whole,
                                                 TimestampMs now);

}  // namespace halite::query
