#include "storage/cells/counters/increment_group.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "storage/cells/counters/counter_source.h"

namespace halite::storage {
namespace {

constexpr std::uint8_t kEightBytes = 7;  // the form of a value in a qualifier

}  // namespace

Result<void> IncrementGroup::add(const OpentsdbLayout& rows, const CounterRule& rule,
                                 const Series& series, const PointBatch& batch, std::size_t index,
                                 TimestampMs now, std::vector<TouchedCell>& touched) {
  if ((batch.flags[index] & kFloat) != 0) {
    return fail(Errc::kInvalidArgument, "an increment must be a whole number of at most 64 bits");
  }
  const TimestampMs time = batch.times[index];
  if (time < 0 || time >= kRowTimeEndMs) {
    return fail(Errc::kInvalidArgument,
                fmt::format("the time {} ms is outside the range of row keys", time));
  }
  const std::int64_t delta = as_integer(batch.values[index]);
  // With a key, a row has one addition with each column once, so that its cells cannot be split.
  if (!once.empty() && overflows(rule, series.id, time, delta)) {
    return fail(Errc::kInvalidArgument,
                "the sum of the request's increments would not fit in 64 bits");
  }
  const std::size_t before = touched.size();
  for (const CounterBucket& bucket : rule.buckets) {
    const Key key{series.id, bucket.begin_of(time), &bucket};
    if (bucket.expired(key.begin, now)) continue;
    touched.push_back({cell_of(rows, series, key, delta), static_cast<std::uint32_t>(index)});
  }
  if (touched.size() > before) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("no bucket of the time {} ms is kept any longer", time));
}

// Adds to the cell with the key, or to a new one; returns its index.
std::uint32_t IncrementGroup::cell_of(const OpentsdbLayout& rows, const Series& series,
                                      const Key& key, std::int64_t delta) {
  const auto next = static_cast<std::uint32_t>(cells.size());
  const auto [at, added] = index_.try_emplace(key, next);
  if (!added) {
    std::int64_t& sum = deltas[at->second];
    std::int64_t both = 0;
    if (!__builtin_add_overflow(sum, delta, &both)) {
      sum = both;
      return at->second;
    }
    at->second = next;
  }
  Result<RollupCell> cell =
      rollup_cell(rows, key.bucket->rows, kCounterAggregatorId, series.tsuid.bytes(),
                  key.begin / 1000, static_cast<ValueBits>(delta), 0);
  HALITE_CHECK(cell, "a bucket's time fits its row");
  char& form = cell->cell.qualifier.back();
  form = static_cast<char>((form & 0xF0) | kEightBytes);
  cells.push_back({.bucket = key.bucket,
                   .row = std::move(cell->row),
                   .qualifier = std::move(cell->cell.qualifier)});
  deltas.push_back(delta);
  return next;
}

bool IncrementGroup::overflows(const CounterRule& rule, SeriesId series, TimestampMs time,
                               std::int64_t delta) const {
  return std::ranges::any_of(rule.buckets, [&](const CounterBucket& bucket) {
    const auto found = index_.find(Key{series, bucket.begin_of(time), &bucket});
    std::int64_t sum = 0;
    return found != index_.end() && __builtin_add_overflow(deltas[found->second], delta, &sum);
  });
}

std::vector<Refusal> IncrementGroup::refusals(const std::vector<TouchedCell>& touched) const {
  std::vector<Refusal> refused;
  for (const TouchedCell& one : touched) {
    const AddOutcome outcome = cells[one.cell].outcome;
    if (outcome != AddOutcome::kOverflow && outcome != AddOutcome::kNoCounter) continue;
    if (!refused.empty() && refused.back().index == one.increment) continue;
    const char* const why = outcome == AddOutcome::kOverflow ? "the sum would not fit in 64 bits"
                                                             : "the stored cell is not a counter";
    refused.push_back({.index = one.increment, .error = {Errc::kInvalidArgument, why, {}}});
  }
  return refused;
}

}  // namespace halite::storage
