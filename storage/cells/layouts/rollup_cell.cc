#include "storage/cells/layouts/rollup_cell.h"

#include <chrono>

#include <fmt/format.h>

#include "storage/cells/layouts/values/qualifier.h"

namespace halite::storage {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;
constexpr std::int64_t kIntervalsMin = 12;
constexpr std::int64_t kIntervalsMax = 7774;
constexpr std::int64_t kOffsetMax = 0xFFF;  // 12 bits
constexpr std::size_t kOffsetBytes = 2;

}  // namespace

// Like OpenTSDB: the longest month and year, plus one day.
std::int64_t rollup_span_seconds(const RollupInterval& interval) {
  switch (interval.span) {
    case RollupSpan::kHours:
      return kRowSeconds * interval.hours;
    case RollupSpan::kDay:
      return kDaySeconds;
    case RollupSpan::kMonth:
      return 32 * kDaySeconds;
    case RollupSpan::kYear:
      return 366 * kDaySeconds;
  }
  return kDaySeconds;
}

Result<void> check_rollup(const RollupInterval& interval) {
  if (interval.seconds < 1 || interval.hours < 1 ||
      (interval.hours > 1 && interval.hours % 2 != 0)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("a rollup interval must be at least 1 s, and its row 1 hour or an even "
                            "number of hours; found {} s and {} h",
                            interval.seconds, interval.hours));
  }
  const std::int64_t count = rollup_span_seconds(interval) / interval.seconds;
  if (count < kIntervalsMin || count > kIntervalsMax) {
    return fail(Errc::kInvalidArgument, fmt::format("a rollup row holds {} to {} intervals, found "
                                                    "{}",
                                                    kIntervalsMin, kIntervalsMax, count));
  }
  return {};
}

std::int64_t rollup_base(const RollupInterval& interval, std::int64_t time_s) {
  if (interval.span == RollupSpan::kHours || interval.span == RollupSpan::kDay) {
    return time_s - time_s % rollup_span_seconds(interval);
  }
  const auto day =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(time_s)));
  const std::chrono::year_month_day date(day);
  const auto month = interval.span == RollupSpan::kMonth ? date.month() : std::chrono::January;
  const std::chrono::sys_days begin(date.year() / month / 1);
  return std::chrono::sys_seconds(begin).time_since_epoch().count();
}

std::int64_t rollup_next_base(const RollupInterval& interval, std::int64_t base_s) {
  // The span is at least as long as the row, and shorter than the row and the next one.
  return rollup_base(interval, base_s + rollup_span_seconds(interval));
}

Result<RollupCell> rollup_cell(const OpentsdbLayout& layout, const RollupInterval& interval,
                               std::uint8_t aggregator, BytesView tsuid, std::int64_t time_s,
                               ValueBits value, std::uint8_t flags) {
  if (time_s < 0 || time_s >= std::int64_t{1} << 32) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("rollup time {} is outside the range of row keys: 0 to 4294967295", time_s));
  }
  const std::int64_t base_s = rollup_base(interval, time_s);
  const std::int64_t offset = (time_s - base_s) / interval.seconds;
  if (offset > kOffsetMax) {
    return fail(Errc::kInvalidArgument,
                fmt::format("rollup time {} is interval {} of its row, the last that fits is {}",
                            time_s, offset, kOffsetMax));
  }
  RollupCell rollup;
  rollup.row = layout.key_of({layout.salt_of(tsuid), Bytes(tsuid), base_s});
  const std::uint8_t value_flags = append_value(rollup.cell.value, value, flags);
  append_be<std::uint8_t>(rollup.cell.qualifier, aggregator);
  append_be<std::uint16_t>(rollup.cell.qualifier,
                           static_cast<std::uint16_t>(offset << 4 | value_flags));
  return rollup;
}

std::optional<RollupPoint> read_rollup(const RollupInterval& interval, std::int64_t base_s,
                                       BytesView qualifier, BytesView value) {
  if (qualifier.size() <= kOffsetBytes) return std::nullopt;
  RollupPoint point;
  const BytesView who = qualifier.substr(0, qualifier.size() - kOffsetBytes);
  if (who.size() == 1) {
    point.aggregator = static_cast<std::uint8_t>(who.front());
  } else if (who.back() == ':') {
    point.aggregator = who.substr(0, who.size() - 1);
  } else {
    return std::nullopt;
  }
  const auto bits = load_be<std::uint16_t>(qualifier.data() + who.size());
  const auto read = read_value(static_cast<std::uint8_t>(bits & 0xF), value);
  if (!read) return std::nullopt;
  point.time_s = base_s + (bits >> 4) * interval.seconds;
  point.value = *read;
  return point;
}

}  // namespace halite::storage
