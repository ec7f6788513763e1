// How one sub-query is run: which time is read, and what each operator does.
#pragma once

#include <cstdint>
#include <optional>

#include "common/clock.h"
#include "common/result.h"
#include "query/aggregator.h"
#include "query/calendar.h"
#include "query/question.h"

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
  TimeRange points;  // points outside belong to no bucket, or to one that is incomplete

  // With a fill policy every bucket that begins in `filled` exists.
  FillPolicy fill = FillPolicy::kNone;
  TimeRange filled;
  std::uint64_t filled_count = 0;  // about how many buckets those are; 0 without a policy

  // The end of the bucket that begins at `start`.
  [[nodiscard]] TimestampMs bucket_end(TimestampMs start) const;

  // The first bucket that a series may have whose first point is at `watermark` or later.
  [[nodiscard]] TimestampMs quiet_until(TimestampMs watermark) const;
};

struct SubPlan {
  const Aggregator* aggregator = nullptr;
  TimeRange asked;  // what the answer may hold
  TimeRange scan;   // whole hours around it: neighbours for rates and interpolation
  std::optional<DownsamplePlan> downsample;
  std::optional<RateSpec> rate;

  // Nothing earlier can come of series that show their first point at `watermark` or later.
  [[nodiscard]] TimestampMs quiet_until(TimestampMs watermark) const;
};

// kTooLarge when the buckets to fill exceed output_points_max.
[[nodiscard]] Result<SubPlan> make_plan(const Question& question, const SubQuestion& sub,
                                        std::uint64_t output_points_max);

}  // namespace halite::query
