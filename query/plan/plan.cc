#include "query/plan/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/check.h"
#include "common/units.h"
#include "query/parse/time.h"

namespace halite::query {
namespace {

// No point is stored at or after this time. A multiple of an hour, so ranges may end here.
constexpr TimestampMs kScanEnd = (kTimeEnd / kHourMs + 1) * kHourMs;

TimestampMs ceil_to(TimestampMs time, std::int64_t unit) { return (time + unit - 1) / unit * unit; }

// Rows are hours, and OpenTSDB reads whole rows: from the hour of the first bucket's start to the
// end of the hour of the last bucket's end. Times have whole seconds here.
TimeRange scan_range(const Question& question, const std::optional<DownsampleSpec>& downsample) {
  const std::int64_t interval = downsample ? downsample->interval_ms : 0;
  TimestampMs begin = question.begin / 1000 * 1000;
  TimestampMs end = (question.end - 1) / 1000 * 1000 + 1000;
  if (interval > 0) {
    begin -= begin % interval / 1000 * 1000;
    const std::int64_t to_bucket_end = (interval - end % interval) / 1000 * 1000;
    end = to_bucket_end >= kScanEnd - end ? kScanEnd : ceil_to(end + to_bucket_end, kHourMs);
  } else {
    end += kHourMs - end % kHourMs;
  }
  begin = std::max<TimestampMs>(0, begin / kHourMs * kHourMs);
  return {.begin = begin, .end = std::min(end, kScanEnd)};
}

// OpenTSDB reads rollups from the row of the query's start, or for rates from the row before.
TimestampMs first_row(const Question& question, const storage::RollupInterval& rows, bool rate) {
  std::int64_t base = storage::rollup_base(rows, question.begin / 1000);
  if (rate && base > 0) base = storage::rollup_base(rows, base - 1);
  return base * 1000;
}

// The end of the last row that begins before `end`.
TimestampMs row_end(const storage::RollupInterval& rows, TimestampMs end) {
  const std::int64_t last = storage::rollup_base(rows, (end - 1) / 1000);
  return std::max(end, std::min(storage::rollup_next_base(rows, last) * 1000, kScanEnd));
}

Result<Calendar> make_calendar(const Question& question, const DownsampleSpec& spec) {
  const auto zone = find_time_zone(question.timezone);
  if (!zone) {
    return fail(Errc::kInvalidArgument, "The timezone specification could not be found");
  }
  return Calendar(spec.unit, spec.interval, *zone);
}

// OpenTSDB reads every series from the first whole bucket of the scan range.
TimestampMs first_whole_bucket(const DownsamplePlan& plan, TimestampMs scan_begin) {
  if (plan.kind == BucketKind::kFixed) {
    if (plan.interval_ms > kScanEnd) return scan_begin == 0 ? 0 : kScanEnd;
    return ceil_to(scan_begin, plan.interval_ms);
  }
  const TimestampMs start = plan.calendar->bucket_start(scan_begin);
  return start < scan_begin ? plan.calendar->next(start) : start;
}

TimeRange filled_range(const DownsamplePlan& plan, TimeRange scan) {
  if (plan.kind == BucketKind::kFixed) {
    return {.begin = scan.begin - scan.begin % plan.interval_ms,
            .end = scan.end - scan.end % plan.interval_ms};
  }
  const TimestampMs begin = plan.calendar->bucket_start(scan.begin);
  const TimestampMs end = plan.calendar->bucket_start(scan.end);
  return {.begin = begin, .end = begin == end ? plan.calendar->next(begin) : end};
}

Result<DownsamplePlan> make_downsample(const Question& question, const DownsampleSpec& spec,
                                       TimeRange scan, std::uint64_t output_points_max) {
  DownsamplePlan plan;
  plan.function = find_aggregator(spec.function);
  HALITE_CHECK(plan.function != nullptr, "a checked question names an aggregator");
  if (spec.all) {
    plan.kind = BucketKind::kAll;
    plan.points = {.begin = question.begin, .end = question.end - 1};
    return plan;
  }
  plan.interval_ms = spec.interval_ms;
  if (spec.calendar) {
    plan.kind = BucketKind::kCalendar;
    TRY(plan.calendar, make_calendar(question, spec));
  }
  plan.points = {.begin = first_whole_bucket(plan, scan.begin), .end = scan.end};
  plan.fill = spec.fill;
  if (plan.fill == FillPolicy::kNone) return plan;

  const auto buckets = static_cast<std::uint64_t>((scan.end - scan.begin) / spec.interval_ms);
  if (buckets > output_points_max) {
    return fail(Errc::kTooLarge,
                fmt::format("Filling {} buckets of {} per series exceeds the {} points of one "
                            "answer; use longer intervals or raise query.output_points_max",
                            buckets, spec.text, output_points_max));
  }
  plan.filled = filled_range(plan, scan);
  plan.filled_count = buckets + 1;
  return plan;
}

}  // namespace

TimestampMs DownsamplePlan::bucket_end(TimestampMs start) const {
  switch (kind) {
    case BucketKind::kFixed:
      return interval_ms > kScanEnd ? kScanEnd : start + interval_ms;
    case BucketKind::kCalendar:
      return calendar->next(start);
    case BucketKind::kAll:
      break;
  }
  return std::numeric_limits<TimestampMs>::max();
}

TimestampMs DownsamplePlan::final_until(TimestampMs watermark) const {
  // With a fill policy every series, also one that begins late, has all buckets from the first on.
  if (fill != FillPolicy::kNone) return filled.begin;
  switch (kind) {
    case BucketKind::kFixed:
      return watermark - watermark % interval_ms;
    case BucketKind::kCalendar:
      return calendar->bucket_start(watermark);
    case BucketKind::kAll:
      break;
  }
  return points.begin;
}

storage::TotalsRequest SubPlan::totals() const {
  if (from_view && downsample->function->kind == AggregatorKind::kPercentile) {
    return {.bucket_ms = downsample->interval_ms, .sketches = true};
  }
  if (!downsample || downsample->kind != BucketKind::kFixed || downsample->average_of_sums ||
      !takes_totals(downsample->function->kind)) {
    return {};
  }
  const AggregatorKind kind = downsample->function->kind;
  // If points begin or end within a bucket, only points tell which are in the range.
  const std::int64_t bucket = downsample->interval_ms;
  if (downsample->points.begin % bucket != 0) return {};
  return {.bucket_ms = bucket,
          .sums = kind == AggregatorKind::kSum || kind == AggregatorKind::kAvg};
}

TimestampMs SubPlan::final_until(TimestampMs watermark) const {
  return downsample ? downsample->final_until(watermark) : watermark;
}

Result<SubPlan> make_plan(const Question& question, const SubQuestion& sub,
                          std::uint64_t output_points_max,
                          const std::optional<PlannedRollup>& rollup) {
  SubPlan plan;
  plan.aggregator = find_aggregator(sub.aggregator);
  HALITE_CHECK(plan.aggregator != nullptr, "a checked question names an aggregator");
  plan.scan = scan_range(question, sub.downsample);
  if (rollup) plan.scan.begin = first_row(question, rollup->rows, sub.rate.has_value());
  plan.asked =
      question.whole_scan ? plan.scan : TimeRange{.begin = question.begin, .end = question.end};
  plan.rate = sub.rate;
  plan.as_stored = question.answers_as_stored(sub);
  if (sub.downsample) {
    TRY(plan.downsample, make_downsample(question, *sub.downsample, plan.scan, output_points_max));
  }
  plan.empty_series_count = rollup.has_value();
  plan.with_tag_ids = question.with_ids;
  plan.with_tsuids = question.with_ids || question.show_tsuids;
  if (rollup && plan.downsample) {
    // The whole last row is read: it may contain the rest of the last bucket.
    plan.buckets_end = plan.scan.end + 1;
    plan.scan.end = row_end(rollup->rows, plan.scan.end);
    plan.downsample->points.end = plan.scan.end;
    plan.downsample->average_of_sums = rollup->average;
  }
  return plan;
}

std::optional<SubPlan> narrow_plan(const Question& question, const SubPlan& whole,
                                   TimestampMs now) {
  const bool simple = whole.downsample && whole.downsample->kind == BucketKind::kFixed &&
                      whole.downsample->fill == FillPolicy::kNone &&
                      !whole.downsample->average_of_sums && !whole.rate &&
                      !whole.empty_series_count && !question.whole_scan && !question.delete_points;
  if (!simple) return std::nullopt;
  const std::int64_t interval = whole.downsample->interval_ms;
  const TimeRange rows = whole.downsample->points;
  if (interval > rows.end - rows.begin) return std::nullopt;  // also if too long to add to a time
  TimeRange range = {.begin = whole.asked.begin - whole.asked.begin % interval,
                     .end = (whole.asked.end + interval - 1) / interval * interval};
  // After the newest points nothing is saved, and all late series would be read again.
  if (range.end > rows.end || now < rows.end) range.end = rows.end;
  range.begin = std::max(range.begin, rows.begin);
  if (range.begin >= range.end) return std::nullopt;
  if ((range.end - range.begin) * 4 > (whole.scan.end - whole.scan.begin) * 3) return std::nullopt;
  SubPlan narrow = whole;
  narrow.scan = range;
  narrow.downsample->points = range;
  return narrow;
}

}  // namespace halite::query
