#include "query/watch.h"

#include <fmt/format.h>

namespace halite::query {
namespace {

std::unexpected<Error> too_much(std::string_view what, std::uint64_t max,
                                std::string_view setting) {
  return fail(Errc::kTooLarge,
              fmt::format("The query {} more than {}; narrow it by tags or time, downsample it, or "
                          "raise {}",
                          what, max, setting));
}

}  // namespace

Watch::Watch(QueryLimits limits, const Clock& clock, std::stop_token stop)
    : limits_(limits), clock_(clock), stop_(std::move(stop)), begin_(clock.now_ms()) {}

Result<void> Watch::check() const {
  if (stop_.stop_requested()) return fail(Errc::kCancelled, "The query was stopped");
  if (limits_.timeout_ms > 0 && clock_.now_ms() - begin_ > limits_.timeout_ms) {
    return fail(Errc::kTimeout,
                fmt::format("The query took longer than {} ms; narrow it by tags or time, or raise "
                            "query.timeout_ms",
                            limits_.timeout_ms));
  }
  return {};
}

Result<void> Watch::add_series(std::uint64_t count) {
  const std::uint64_t total = series_ += count;
  if (total <= limits_.series_max) return {};
  return too_much("selects series:", limits_.series_max, "query.series_max");
}

Result<void> Watch::add_points(std::uint64_t count) {
  const std::uint64_t total = points_ += count;
  if (total <= limits_.points_max) return {};
  return too_much("reads points:", limits_.points_max, "query.points_max");
}

Result<void> Watch::add_output_points(std::uint64_t count) {
  const std::uint64_t total = output_points_ += count;
  if (total <= limits_.output_points_max) return {};
  return too_much("answers points:", limits_.output_points_max, "query.output_points_max");
}

Result<void> Watch::add_bytes(std::int64_t count) {
  const std::int64_t total = bytes_ += count;
  if (total <= static_cast<std::int64_t>(limits_.bytes_max)) return {};
  return too_much("needs bytes of memory:", limits_.bytes_max, "query.bytes_max");
}

QueryCost Watch::cost() const {
  return {.series = series_,
          .points_read = points_,
          .blocks_read = blocks_,
          .points_out = output_points_,
          .wall_ms = static_cast<double>(clock_.now_ms() - begin_)};
}

}  // namespace halite::query
