// How one sub-query is run: which time is read, and what each operator does.
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
  kAll,       // one bucket for the range asked
};

struct DownsamplePlan {
  const Aggregator* function = nullptr;
  BucketKind kind = BucketKind::kFixed;
  std::int64_t interval_ms = 0;  // of kFixed
  std::optional<Calendar> calendar;
  TimeRange points;              // points outside belong to no bucket, or to one that is incomplete
  bool average_of_sums = false;  // of rollups: sums and counts make the bucket, not `function`

  // With a fill policy every bucket that begins in `filled` exists.
  FillPolicy fill = FillPolicy::kNone;
  TimeRange filled;
  std::uint64_t filled_count = 0;  // about how many buckets those are; 0 without a policy

  // The end of the bucket that begins at `start`.
  [[nodiscard]] TimestampMs bucket_end(TimestampMs start) const;

  // The first bucket that a series may have whose first point is at `watermark` or later.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const;
};

struct SubPlan {
  const Aggregator* aggregator = nullptr;
  TimeRange asked;  // what the answer may hold
  TimeRange scan;   // whole rows around it: neighbours for rates and interpolation
  // Buckets from here on take no part: their rows were read for earlier buckets only.
  TimestampMs buckets_end = std::numeric_limits<TimestampMs>::max();
  std::optional<DownsamplePlan> downsample;
  std::optional<RateSpec> rate;
  bool empty_series_count = false;  // series with rows, but nothing in them, make groups, too

  // The totals that do in place of a series' points.
  [[nodiscard]] storage::TotalsRequest totals() const;

  // Nothing earlier can come of series that show their first point at `watermark` or later.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const;
};

// Rows of a rollup table instead of hours.
struct PlannedRollup {
  storage::RollupInterval rows;
  bool average = false;  // sums and counts are read
};

// kTooLarge when the buckets to fill exceed output_points_max.
[[nodiscard]] Result<SubPlan> make_plan(const Question& question, const SubQuestion& sub,
                                        std::uint64_t output_points_max,
                                        const std::optional<PlannedRollup>& rollup = {});

}  // namespace halite::query
