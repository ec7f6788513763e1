#include "query/scan/fetch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "common/gather.h"
#include "common/units.h"

namespace halite::query {
namespace {

// A series without points: only its id is kept.
constexpr std::int64_t kEmptySeriesBytes = 32;

// The work that one coroutine reads alone: to wake others costs more than it saves.
constexpr std::uint64_t kSeriesHoursTogether = 1024;
constexpr std::int64_t kHoursOfTotals = 4;  // that cost as much as an hour of points
constexpr std::uint64_t kPointsBetweenYields = 1 << 18;

// The points of a block from a given time on.
storage::Block rest_of(const storage::Block& block, TimestampMs from) {
  const auto first = std::ranges::lower_bound(block.times, from) - block.times.begin();
  storage::Block rest;
  rest.series = block.series;
  rest.times.assign(block.times.begin() + first, block.times.end());
  rest.values.assign(block.values.begin() + first, block.values.end());
  rest.floats = block.floats >> static_cast<std::size_t>(first);
  if (!block.counts.empty()) rest.counts.assign(block.counts.begin() + first, block.counts.end());
  return rest;
}

}  // namespace

Fetch::Fetch(storage::PointStore& store, storage::BlockSource& source, const SubPlan& plan,
             std::shared_ptr<QueryBudget> budget, FetchMeter& meter)
    : store_(store),
      source_(source),
      plan_(plan),
      shared_budget_(std::move(budget)),
      budget_(*shared_budget_),
      meter_(meter) {
  for (std::uint32_t i = 0; i < source.shard_count(); ++i) {
    shards_.push_back(std::make_unique<FetchShard>());
    shards_.back()->index = i;
  }
}

Fetch::~Fetch() { static_cast<void>(count_bytes(-counted_bytes_)); }

// A negative count releases memory and never fails.
Result<void> Fetch::count_bytes(std::int64_t bytes) {
  counted_bytes_ += bytes;
  return budget_.add_bytes(bytes);
}

// All shards share the count: counts small amounts together, at the latest in count_now().
Result<void> Fetch::count_later(FetchShard& shard, std::int64_t bytes) {
  constexpr std::int64_t kTogether = 64 << 10;
  shard.uncounted_bytes += bytes;
  return shard.uncounted_bytes < kTogether ? Result<void>() : count_now(shard);
}

Result<void> Fetch::count_now(FetchShard& shard) {
  return count_bytes(std::exchange(shard.uncounted_bytes, 0));
}

Result<void> Fetch::count_new_series(std::size_t series) {
  if (series == 0) return {};
  TRY_VOID(budget_.add_series(series));
  const auto count = static_cast<std::int64_t>(series);
  new_series_ += count;  // before their bytes: see window_bytes()
  return count_bytes(count * FetchedSeries::kBytes);
}

Task<WindowOutcome> Fetch::read(TimeRange window, std::uint64_t window_bytes_max) {
  counted_before_window_ = counted_bytes_;
  fetched_before_window_ = meter_.fetched();
  new_series_ = 0;
  too_large_ = false;
  for (const auto& shard : shards_) shard->begun = false;
  std::vector<Task<void>> tasks;
  for (std::vector<FetchShard*>& part : share_out(window)) {
    tasks.push_back(read_shards(std::move(part), window, window_bytes_max));
  }
  auto gathering = gather(std::move(tasks), shards_.size());
  const std::vector<Result<void>> outcomes = co_await std::move(gathering);
  for (const Result<void>& outcome : outcomes) {
    if (!outcome) co_return std::unexpected(outcome.error());
  }
  if (too_large_) {
    give_up();
    co_return WindowOutcome::kTooLarge;
  }
  if (window.end == plan_.scan.end) finish();
  co_return WindowOutcome::kRead;
}

// A look ahead reads points and may cover a part of the time; the meter also counts points. A view
// has no points and is read in one window.
storage::TotalsRequest Fetch::totals_request_in(TimeRange window) const {
  const bool whole = window.begin == plan_.scan.begin && window.end == plan_.scan.end;
  return plan_.from_view || (whole && !meter_.counts()) ? plan_.totals() : storage::TotalsRequest{};
}

// Shards without a selected series have nothing to read.
std::vector<std::vector<FetchShard*>> Fetch::share_out(TimeRange window) const {
  std::int64_t hours = (window.end - window.begin) / kHourMs;
  if (totals_request_in(window).bucket_ms >= kHourMs) hours /= kHoursOfTotals;
  hours = std::max<std::int64_t>(1, hours);
  std::vector<std::vector<FetchShard*>> parts;
  std::uint64_t room = 0;
  for (const storage::ShardSeriesCount& share : source_.series_by_shard(*selection_)) {
    const std::uint64_t work = share.series * static_cast<std::uint64_t>(hours);
    if (parts.empty() || share.series == 0 || work > room) {
      parts.emplace_back();
      room = std::max(kSeriesHoursTogether, work);
    }
    parts.back().push_back(shards_[share.shard].get());
    room -= work;
  }
  return parts;
}

Task<void> Fetch::read_shards(std::vector<FetchShard*> shards, TimeRange window,
                              std::uint64_t window_bytes_max) {
  for (FetchShard* const shard : shards) {
    auto reading = read_shard(shard, window, window_bytes_max);
    CO_TRY_VOID(co_await std::move(reading));
    if (too_large_) break;
  }
  co_return Result<void>{};
}

Task<void> Fetch::read_shard(FetchShard* shard, TimeRange window, std::uint64_t window_bytes_max) {
  shard->begun = true;
  shard->window_points = 0;
  shard->notes_before = shard->notes.size();
  QueryBudget::TimedShard timed(budget_, shard->index);
  std::uint64_t yielded = 0;
  for (FetchedSeries& state : shard->all) {
    state.pipeline_before = std::make_unique<Pipeline>(state.pipeline);
    state.points_before = state.member.points.size();
  }
  const std::unique_ptr<storage::BlockScan> scan =
      source_.scan_totals(selection_, window, shard->index, totals_request_in(window));
  for (;;) {
    auto next = scan->next();
    CO_TRY(const std::vector<storage::Block> blocks, co_await std::move(next));
    if (blocks.empty()) break;
    CO_TRY_VOID(budget_.check());
    CO_TRY_VOID(take_blocks(*shard, blocks));
    CO_TRY_VOID(keep_annotations(*shard, blocks));
    timed.points = shard->window_points;
    note_if_too_large(window_bytes_max);
    if (too_large_) co_return Result<void>{};
    // A scan that never suspends must not delay other queries.
    if (shard->window_points - yielded < kPointsBetweenYields) continue;
    yielded = shard->window_points;
    const auto executor = co_await boost::asio::this_coro::executor;
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
  }
  CO_TRY_VOID(close_window(*shard, window, window_bytes_max));
  co_return Result<void>{};
}

Result<FetchedSeries*> Fetch::state_of(FetchShard& shard, storage::SeriesId id) {
  if (shard.last != nullptr && shard.last->series->id == id) return shard.last;
  const auto known = shard.states.find(id);
  if (known == shard.states.end()) {
    FetchedSeries& state = shard.all.emplace_back(source_.series(id), plan_);
    shard.states.emplace(id, &state);
    TRY_VOID(count_later(shard, state.bytes()));
    shard.fresh.push_back(&state);
    shard.last = &state;
  } else {
    shard.last = known->second;
  }
  return shard.last;
}

Result<void> Fetch::take_blocks(FetchShard& shard, const std::vector<storage::Block>& blocks) {
  std::uint64_t points = 0;
  const std::size_t series_before = shard.all.size();
  for (const storage::Block& block : blocks) {
    if (!block.totals.empty()) {
      TRY_VOID(take_totals(shard, block));
      points += block.totals.size();
      continue;
    }
    if (block.times.empty() || block.times.front() >= plan_.buckets_end) {
      // Counts points only: in OpenTSDB, whole hours without a point have no row.
      if (!plan_.empty_series_count || shard.states.contains(block.series)) continue;
      if (shard.empty.insert(block.series).second) TRY_VOID(count_bytes(kEmptySeriesBytes));
      continue;
    }
    TRY(FetchedSeries* const state, state_of(shard, block.series));
    const std::int64_t before = state->bytes();
    // A look ahead has already counted its points.
    if (block.times.front() >= state->read_until) {
      points += block.size();
      if (meter_.counts()) TRY_VOID(count_fetched(*state, block));
      state->pipeline.add(block, shard.scratch, state->member.points);
    } else if (block.times.back() >= state->read_until) {
      const storage::Block rest = rest_of(block, state->read_until);
      points += rest.size();
      if (meter_.counts()) TRY_VOID(count_fetched(*state, rest));
      state->pipeline.add(rest, shard.scratch, state->member.points);
    }
    TRY_VOID(count_later(shard, state->bytes() - before));
  }
  TRY_VOID(count_new_series(shard.all.size() - series_before));
  TRY_VOID(count_now(shard));
  budget_.add_blocks(blocks.size());
  shard.window_points += points;
  return budget_.add_points(points);
}

// A look ahead leaves annotations to the next window.
Result<void> Fetch::keep_annotations(FetchShard& shard, const std::vector<storage::Block>& blocks) {
  for (const storage::Block& block : blocks) {
    for (const Bytes& json : block.notes) {
      shard.notes.push_back({.series = &source_.series(block.series), .json = json});
      TRY_VOID(count_bytes(FetchShard::bytes_of(shard.notes.back())));
    }
  }
  return {};
}

std::vector<FetchedNote> Fetch::take_annotations() {
  std::vector<FetchedNote> notes;
  for (const auto& shard : shards_) std::ranges::move(shard->notes, std::back_inserter(notes));
  return notes;
}

Result<void> Fetch::take_totals(FetchShard& shard, const storage::Block& block) {
  TRY(FetchedSeries* const state, state_of(shard, block.series));
  const std::int64_t before = state->bytes();
  state->pipeline.add(block, shard.scratch, state->member.points);
  return count_later(shard, state->bytes() - before);
}

Result<void> Fetch::count_fetched(FetchedSeries& state, const storage::Block& block) {
  constexpr std::uint64_t kRowTimeBytes = 4;
  FetchMeter::Amount amount{.points = block.size()};
  for (const TimestampMs time : block.times) {
    if (time / kHourMs == state.counted_hour) continue;
    state.counted_hour = time / kHourMs;
    ++amount.rows;
  }
  amount.bytes = amount.rows * (state.series->tsuid.size() + kRowTimeBytes) +
                 amount.points * FetchMeter::kPointBytes;
  return meter_.add(amount);
}

// Called when all points before the window's end are read. The last window ends all series. A fill
// policy can turn few points into many, so memory is counted for each series.
Result<void> Fetch::close_window(FetchShard& shard, TimeRange window,
                                 std::uint64_t window_bytes_max) {
  for (FetchedSeries& one : shard.all) {
    FetchedSeries* const state = &one;
    Member& member = state->member;
    if (member.finished) continue;
    TRY_VOID(budget_.check());
    const std::int64_t before = state->bytes();
    if (window.end == plan_.scan.end) {
      state->pipeline.finish(shard.scratch, member.points);
    } else {
      const TimestampMs watermark = std::max(window.end, state->read_until);
      state->pipeline.advance(watermark, shard.scratch, member.points);
      member.final_until = state->pipeline.final_until(watermark);
    }
    TRY_VOID(count_later(shard, state->bytes() - before));
    if (state->pipeline.failed()) return fail(Errc::kInvalidArgument, "unhandled fill policy");
    note_if_too_large(window_bytes_max);
    if (too_large_) break;
  }
  return count_now(shard);
}

void Fetch::give_up() {
  meter_.go_back(fetched_before_window_);
  std::int64_t bytes = 0;
  for (const auto& shard : shards_) {
    if (!shard->begun) continue;
    budget_.uncount_points(shard->window_points);
    for (FetchedSeries& state : shard->all) {
      bytes -= state.bytes();
      state.counted_hour = -1;
      state.pipeline = state.pipeline_before ? *state.pipeline_before : Pipeline(plan_);
      PointColumns& points = state.member.points;
      points.truncate(state.points_before);
      points.shrink_to_fit();
      bytes += state.bytes();
    }
    while (shard->notes.size() > shard->notes_before) {
      bytes -= FetchShard::bytes_of(shard->notes.back());
      shard->notes.pop_back();
    }
  }
  static_cast<void>(count_bytes(bytes));
}

void Fetch::finish() {
  for (const auto& shard : shards_) {
    for (FetchedSeries& state : shard->all) state.member.finished = true;
  }
}

std::vector<GroupMember> Fetch::take_new() {
  std::vector<GroupMember> members;
  for (const auto& shard : shards_) {
    for (FetchedSeries* const state : shard->fresh) {
      members.push_back({.series = state->series, .member = &state->member});
    }
    shard->fresh.clear();
  }
  return members;
}

std::vector<const storage::Series*> Fetch::empty_series() const {
  std::vector<const storage::Series*> series;
  for (const auto& shard : shards_) {
    for (const storage::SeriesId id : shard->empty) {
      if (!shard->states.contains(id)) series.push_back(&source_.series(id));
    }
  }
  return series;
}

void Fetch::recount() {
  std::int64_t bytes = 0;
  for (const auto& shard : shards_) {
    for (const FetchedSeries& state : shard->all) bytes += state.bytes() + FetchedSeries::kBytes;
    bytes += static_cast<std::int64_t>(shard->empty.size()) * kEmptySeriesBytes;
    for (const FetchedNote& note : shard->notes) bytes += FetchShard::bytes_of(note);
  }
  static_cast<void>(count_bytes(bytes - counted_bytes_));  // a merge only releases
}

// Also limits the memory with that of new series, so that enough is left for a shorter window.
void Fetch::note_if_too_large(std::uint64_t window_bytes_max) {
  if (window_bytes_max == 0) return;
  const auto half = static_cast<std::int64_t>(budget_.limits().bytes_max / 2);
  if (window_bytes() > window_bytes_max || counted_bytes_ - counted_before_window_ > half) {
    too_large_ = true;
  }
}

// Reads the bytes before the series: other shards may add some meanwhile, and their bytes must not
// count as those of points.
std::uint64_t Fetch::window_bytes() const {
  const std::int64_t bytes = counted_bytes_ - counted_before_window_;
  const std::int64_t of_series = new_series_ * FetchedSeries::kBytes;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes - of_series));
}

}  // namespace halite::query
