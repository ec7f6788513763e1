#include "query/plan/calendar.h"

#include <algorithm>
#include <utility>

#include <cctz/civil_time.h>

#include "common/units.h"
#include "query/parse/time.h"

namespace halite::query {
namespace {

using Seconds = cctz::time_point<cctz::seconds>;

std::int64_t floor_seconds(TimestampMs time) {
  return time >= 0 ? time / 1000 : -((999 - time) / 1000);
}

Seconds to_seconds(TimestampMs time) { return Seconds(cctz::seconds(floor_seconds(time))); }

// Longer than all valid times, and short enough that sums fit in 64 bits.
constexpr std::int64_t kBucketMaxMs = 40'000'000'000'000;

// The instant of a local time that is not after `time`. If a clock change repeats the local time,
// this is the earlier instant if the later one is after `time`.
TimestampMs not_after(const cctz::civil_second& local, const cctz::time_zone& zone,
                      TimestampMs time) {
  const TimestampMs at = local_to_seconds(local, zone) * 1000;
  if (at <= time) return at;
  return zone.lookup(local).pre.time_since_epoch().count() * 1000;
}

}  // namespace

Calendar::Calendar(std::string_view unit, std::int32_t count, cctz::time_zone zone)
    : zone_(std::move(zone)) {
  std::int64_t usual_ms = 0;
  if (unit == "ms") {
    usual_ms = unit_ms_ = 1;
  } else if (unit == "s") {
    usual_ms = unit_ms_ = 1000;
  } else if (unit == "m") {
    usual_ms = unit_ms_ = 60'000;
  } else if (unit == "h") {
    usual_ms = unit_ms_ = 3'600'000;
  } else if (unit == "d") {
    unit_ = Unit::kDay;
    usual_ms = kDayMs;
  } else if (unit == "w") {
    unit_ = Unit::kWeek;
    usual_ms = 7 * kDayMs;
  } else if (unit == "n") {
    unit_ = Unit::kMonth;
    usual_ms = 30 * kDayMs;
  } else {
    unit_ = Unit::kYear;
    usual_ms = 365 * kDayMs;
  }
  count_ = std::min<std::int64_t>(count, kBucketMaxMs / usual_ms);
}

// The start of the grid that contains `time`: at the next greater unit if the count divides it
// evenly, else at the one above.
TimestampMs Calendar::anchor(TimestampMs time) const {
  const cctz::civil_second local = cctz::convert(to_seconds(time), zone_);
  const cctz::civil_day day(local);
  cctz::civil_second from(cctz::civil_year{local});
  switch (unit_) {
    case Unit::kFixed:
      if (unit_ms_ == 1) {
        from = 1000 % count_ == 0 ? local : cctz::civil_second(cctz::civil_minute(local));
      } else if (unit_ms_ == 1000) {
        from = 60 % count_ == 0 ? cctz::civil_second(cctz::civil_minute(local))
                                : cctz::civil_second(cctz::civil_hour(local));
      } else if (unit_ms_ == 60'000) {
        from = 60 % count_ == 0 ? cctz::civil_second(cctz::civil_hour(local))
                                : cctz::civil_second(day);
      } else {
        from = 24 % count_ == 0 ? cctz::civil_second(day)
                                : cctz::civil_second(cctz::civil_month(local));
      }
      break;
    case Unit::kDay:
      if (count_ == 1) from = cctz::civil_second(day);
      break;
    case Unit::kWeek:  // weeks begin on Sunday
      from = cctz::civil_second(cctz::prev_weekday(day + 1, cctz::weekday::sunday));
      break;
    case Unit::kMonth:
    case Unit::kYear:
      break;
  }
  return not_after(from, zone_, time);
}

// Adds days as Java's calendar does: keeps the time of day, unless a clock change moves it to
// another day.
TimestampMs Calendar::add_days(TimestampMs start, std::int64_t days) const {
  const cctz::civil_second local = cctz::convert(to_seconds(start), zone_);
  const std::int64_t offset_before = zone_.lookup(to_seconds(start)).offset;
  TimestampMs moved = start + days * 86'400'000;
  const std::int64_t shift_ms = (offset_before - zone_.lookup(to_seconds(moved)).offset) * 1000;
  if (shift_ms == 0) return moved;
  moved += shift_ms;
  const cctz::civil_day wanted = cctz::civil_day(local) + days;
  if (cctz::civil_day(cctz::convert(to_seconds(moved), zone_)) != wanted) moved -= shift_ms;
  return moved;
}

TimestampMs Calendar::add(TimestampMs start, std::int64_t count) const {
  switch (unit_) {
    case Unit::kFixed:
      return start + count * unit_ms_;
    case Unit::kDay:
      return add_days(start, count);
    case Unit::kWeek:
      return add_days(start, count * 7);
    case Unit::kMonth:
    case Unit::kYear:
      break;
  }
  // Grids of months and years begin on the first of a month, so no month is too short.
  const cctz::civil_second local = cctz::convert(to_seconds(start), zone_);
  const std::int64_t months = unit_ == Unit::kYear ? count * 12 : count;
  const cctz::civil_second moved(local.year(), local.month() + months, local.day(), local.hour(),
                                 local.minute(), local.second());
  return local_to_seconds(moved, zone_) * 1000;
}

TimestampMs Calendar::bucket_start(TimestampMs time) const {
  const TimestampMs from = anchor(time);
  // OpenTSDB searches the first week in steps of one week, whatever the count.
  const std::int64_t step = unit_ == Unit::kWeek ? 1 : count_;
  if (unit_ == Unit::kFixed) {
    const std::int64_t step_ms = step * unit_ms_;
    return from + (time - from) / step_ms * step_ms;
  }
  TimestampMs start = from;
  for (TimestampMs after = add(start, step); after <= time; after = add(start, step)) {
    start = after;
  }
  return start;
}

TimestampMs Calendar::next(TimestampMs start) const { return add(start, count_); }

TimestampMs Calendar::advance(TimestampMs start, TimestampMs time) const {
  if (unit_ == Unit::kFixed) {
    const std::int64_t step_ms = count_ * unit_ms_;
    return start + (time - start) / step_ms * step_ms;
  }
  for (TimestampMs after = next(start); after <= time; after = next(start)) start = after;
  return start;
}

}  // namespace halite::query
