#include "query/query_budget.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace halite::query {
namespace {

// "The query reads more than 10 points (query.points_max); ..."
std::unexpected<Error> too_much(std::string_view does, std::uint64_t max, std::string_view what,
                                std::string_view setting, std::string_view advice) {
  return fail(Errc::kTooLarge, fmt::format("The query {} more than {} {} ({}); {}, or raise that "
                                           "setting",
                                           does, max, what, setting, advice));
}

constexpr std::string_view kNarrow = "narrow it by tags or time";
constexpr std::string_view kNarrowOrDownsample = "narrow it by tags or time, downsample it";

}  // namespace

QueryBudget::QueryBudget(QueryLimits limits, const Clock& clock, RunContext context)
    : limits_(limits),
      clock_(clock),
      stop_(std::move(context.stop)),
      spans_(std::move(context.spans)),
      begin_(clock.now_ms()),
      begin_us_(clock_.elapsed_us()) {}

Result<void> QueryBudget::check() const {
  if (stop_.stop_requested()) return fail(Errc::kCancelled, "The query was cancelled");
  if (limits_.timeout_ms > 0 && clock_.now_ms() - begin_ > limits_.timeout_ms) {
    return fail(
        Errc::kTimeout,
        fmt::format("The query took longer than {} ms (query.timeout_ms); {}, or raise that "
                    "setting",
                    limits_.timeout_ms, kNarrow));
  }
  return {};
}

Result<void> QueryBudget::check_series(std::uint64_t more) const {
  const std::uint64_t counted = series_;
  if (counted <= limits_.series_max && more <= limits_.series_max - counted) return {};
  return too_much("selects", limits_.series_max, "series", "query.series_max", "narrow it by tags");
}

Result<void> QueryBudget::add_series(std::uint64_t count) {
  series_ += count;
  return check_series(0);
}

Result<void> QueryBudget::add_points(std::uint64_t count) {
  const std::uint64_t total = points_ += count;
  if (total <= limits_.points_max) return {};
  return too_much("reads", limits_.points_max, "points", "query.points_max", kNarrow);
}

Result<void> QueryBudget::add_output_points(std::uint64_t count) {
  const std::uint64_t total = output_points_ += count;
  if (total <= limits_.output_points_max) return {};
  return too_much("returns", limits_.output_points_max, "points", "query.output_points_max",
                  kNarrowOrDownsample);
}

Result<void> QueryBudget::add_bytes(std::int64_t count) {
  const std::int64_t total = bytes_ += count;
  if (count <= 0 || total <= static_cast<std::int64_t>(limits_.bytes_max)) return {};
  return too_much("needs", limits_.bytes_max, "bytes of memory", "query.bytes_max",
                  kNarrowOrDownsample);
}

void QueryBudget::count_read(const storage::ReadWork& work) {
  chunks_decoded_ += work.chunks_decoded;
  chunks_skipped_ += work.chunks_skipped;
  totals_ += work.totals;
}

void QueryBudget::end_stage(Stage stage, std::int64_t begin_us) {
  constexpr std::array<std::string_view, kStages> kNames = {"plan", "scan", "merge", "annotations"};
  const std::int64_t end_us = clock_.elapsed_us();
  const auto at = static_cast<std::size_t>(stage);
  stage_us_[at] += end_us - begin_us;
  if (spans_ == nullptr) return;
  spans_->add({.name = kNames[at], .begin_us = begin_us, .end_us = end_us});
}

void QueryBudget::end_shard(std::uint32_t shard, std::int64_t begin_us, std::uint64_t points) {
  if (spans_ == nullptr) return;
  spans_->add({.name = "shard",
               .begin_us = begin_us,
               .end_us = clock_.elapsed_us(),
               .shard = shard,
               .points = points});
}

QueryCost QueryBudget::cost() const {
  QueryCost cost{.series = series_,
                 .points_read = points_,
                 .blocks_read = blocks_,
                 .points_out = output_points_,
                 .work = {.chunks_decoded = chunks_decoded_,
                          .chunks_skipped = chunks_skipped_,
                          .totals = totals_},
                 .wall_ms = static_cast<double>(clock_.elapsed_us() - begin_us_) / 1000,
                 .stage_ms = {}};
  for (std::size_t i = 0; i < kStages; ++i) {
    cost.stage_ms[i] = static_cast<double>(stage_us_[i]) / 1000;
  }
  return cost;
}

}  // namespace halite::query
