#include "storage/tsdb/read/engine_scan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/threads/memory_reservation.h"
#include "storage/api/read_context.h"
#include "storage/tsdb/read/active_filter.h"
#include "storage/tsdb/read/span_totals.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kSeriesPerGroup = 64;
// Maximum points in heads for a group of more than one series.
constexpr std::size_t kGroupHeadPoints = 256 << 10;
constexpr std::size_t kBlocksPerBatch = 256;
// Few enough that they are still in a core's cache when the caller reads them.
constexpr std::size_t kPointsPerBatch = 16 << 10;

void set_floats(chunk::PointsView points, Block& block) {
  const std::size_t floats = points.float_count();
  if (floats == points.size()) {
    block.floats = ~block.floats >> (kBlockPointsMax - floats);
  } else if (floats > 0) {
    for (std::size_t i = 0; i < points.size(); ++i) block.floats[i] = points.is_float(i);
  }
}

}  // namespace

class EngineScan::Reader {
 public:
  Reader(std::shared_ptr<EngineContext> context, std::shared_ptr<const RowSelection> selection,
         TimeRange range, std::uint32_t shard, TotalsRequest totals_request)
      : context_(std::move(context)),
        selection_(std::move(selection)),
        layout_(context_->retention->layout_of(shard)),
        range_(layout_.alive(range, selection_->now())),
        shard_(shard),
        totals_request_(totals_request),
        counters_(selection_->context().counters.get()),
        heads_held_(selection_->context().budget),
        blocks_held_(selection_->context().budget) {}

  // The next blocks; none when the shard is finished.
  Result<std::vector<Block>> next() {
    if (!started_) TRY_VOID(start());
    blocks_held_.give_back();
    while (blocks_.empty()) {
      if (slot_ == slots_.size()) {
        if (next_series_ == wanted_.size()) break;
        TRY_VOID(begin_group());
      } else {
        TRY_VOID(read_some());
      }
    }
    if (counters_ != nullptr) counters_->count_read(std::exchange(work_, {}));
    return std::exchange(blocks_, {});
  }

 private:
  struct Wanted {
    const Series* series = nullptr;
    bool stored = false;                    // false: all points are in heads
    std::vector<chunk::FlushedRun> recent;  // its points in heads, while its group is read
  };

  Result<void> start();
  void sort_wanted();
  Result<void> begin_group();
  Result<void> read_some();
  [[nodiscard]] std::vector<std::int64_t> slots_of_group() const;
  void leave_group();
  Result<void> take_heads();
  struct HeadCopies {
    std::uint64_t flush_number = 0;
    std::vector<HeadPoints> series;
  };
  [[nodiscard]] std::vector<HeadCopies> copy_heads() const;
  Result<void> read_slot(std::int64_t period, const Wanted& wanted);
  Result<bool> read_totals(std::int64_t period, const Wanted& wanted, TimeRange range);
  Result<void> add_pieces(std::int64_t period, const Wanted& wanted);
  Result<chunk::Points> points_of(std::int64_t period, const Wanted& wanted, TimeRange range);
  [[nodiscard]] static Error of_series(Error error, const Series& series);
  void add_blocks(SeriesId id, chunk::PointsView points);

  const std::shared_ptr<EngineContext> context_;
  const std::shared_ptr<const RowSelection> selection_;
  const CyclicLayout& layout_;
  const TimeRange range_;
  const std::uint32_t shard_;
  const TotalsRequest totals_request_;
  ReadCounters* const counters_;  // may be null

  bool started_ = false;
  std::vector<std::shared_ptr<Head>> heads_;  // with points that are not in the visible chunks
  std::unique_ptr<SlotReader> stored_;
  std::vector<std::int64_t> periods_;  // with chunks, ascending
  std::optional<ActiveFilter> alive_;
  std::vector<Wanted> wanted_;  // in key order
  // Of the series that is read: chunk_key.h's series_key(); empty if it has no chunk in the slot.
  Bytes key_;
  bool totals_wished_ = false;
  SummaryPlan choice_;

  // Groups of series are read slot by slot, in storage order. Blocks are returned in between.
  std::size_t group_series_ = kSeriesPerGroup;  // maximum; fewer if heads have many points of each
  std::span<Wanted> group_;                     // of wanted_
  std::size_t next_series_ = 0;                 // in wanted_, after the group
  MemoryReservation heads_held_;                // for the group's points in heads
  std::vector<std::int64_t> slots_;             // periods
  std::size_t slot_ = 0;                        // next in slots_
  std::size_t slot_series_ = 0;                 // series of group_ already read in that slot
  std::vector<Block> blocks_;
  MemoryReservation blocks_held_;  // for blocks_ and the blocks returned last
  ReadWork work_;                  // since the last blocks were returned
};

Result<void> EngineScan::Reader::start() {
  started_ = true;
  totals_wished_ = fits(totals_request_, layout_);
  if (range_.begin >= range_.end) return {};
  heads_ = context_->head_list.view();
  TRY(stored_,
      SlotReader::open(context_->chunks->views, layout_, shard_, selection_->context().source));
  std::erase_if(heads_, [this](const std::shared_ptr<Head>& head) {
    return head->number() <= stored_->flush_number();
  });
  TRY(periods_, stored_->periods(range_));
  const SeriesTable& table = context_->registry.table();
  const RowSelection::Known known = selection_->known();
  TRY(alive_, ActiveFilter::make(*context_, *selection_,
                                 {.shard = shard_, .periods = periods_, .heads = heads_}));
  const std::vector<SeriesId> alive = alive_->alive(known->of_shard(shard_));
  wanted_.reserve(alive.size());
  for (const SeriesId id : alive) {
    const auto may_be_stored = [this, id](std::int64_t period) {
      return alive_->may_be_stored(period, id);
    };
    Wanted& wanted = wanted_.emplace_back();
    wanted.series = &table.at(id);
    __builtin_prefetch(wanted.series);
    wanted.stored = std::ranges::any_of(periods_, may_be_stored);
  }
  if (std::ranges::any_of(wanted_, &Wanted::stored)) sort_wanted();
  return {};
}

void EngineScan::Reader::sort_wanted() {
  std::vector<SeriesPlace> places;
  places.reserve(wanted_.size());
  for (const Wanted& one : wanted_) places.push_back({one.series, places.size()});
  sort_by_key(places);
  std::vector<Wanted> sorted;
  sorted.reserve(wanted_.size());
  for (const SeriesPlace& one : places) sorted.push_back(std::move(wanted_[one.place]));
  wanted_ = std::move(sorted);
}

// Starts the next group: fewer series if heads have many points of each.
Result<void> EngineScan::Reader::begin_group() {
  TRY_VOID(selection_->context().check());
  const std::size_t count = std::min(group_series_, wanted_.size() - next_series_);
  leave_group();
  group_ = std::span<Wanted>(wanted_).subspan(next_series_, count);
  for (const Wanted& wanted : group_) __builtin_prefetch(&wanted.series->tags.set());
  TRY_VOID(take_heads());
  next_series_ += group_.size();
  slots_ = slots_of_group();
  slot_ = slot_series_ = 0;
  return {};
}

void EngineScan::Reader::leave_group() {
  for (Wanted& wanted : group_) wanted.recent = {};
  heads_held_.give_back();
}

std::vector<EngineScan::Reader::HeadCopies> EngineScan::Reader::copy_heads() const {
  std::vector<SeriesId> ids;
  ids.reserve(group_.size());
  for (const Wanted& wanted : group_) ids.push_back(wanted.series->id);
  std::vector<HeadCopies> copies;
  for (const std::shared_ptr<Head>& head : heads_) {
    copies.push_back({.flush_number = head->number(), .series = head->copy(shard_, ids, range_)});
  }
  return copies;
}

// Sets the group's `recent`; shortens the group if it would have too many points.
Result<void> EngineScan::Reader::take_heads() {
  if (heads_.empty()) return {};
  std::vector<HeadCopies> copies;
  std::size_t points = 0;
  for (;;) {
    copies = copy_heads();
    points = 0;
    for (const HeadCopies& head : copies) {
      for (const HeadPoints& copy : head.series) points += copy.points;
    }
    if (points <= kGroupHeadPoints || group_.size() == 1) break;
    group_series_ = std::max<std::size_t>(1, group_.size() / 2);
    group_ = group_.first(group_series_);
  }
  if (points <= kGroupHeadPoints / 4) {
    group_series_ = std::min(kSeriesPerGroup, 2 * group_series_);
  }
  TRY_VOID(heads_held_.add(points * kPointBytes));
  for (const HeadCopies& head : copies) {
    auto wanted = group_.begin();  // the copies are in the same order
    for (const HeadPoints& copy : head.series) {
      while (wanted->series->id != copy.id) ++wanted;
      chunk::FlushedRun run;
      run.flush_number = head.flush_number;
      read_points(copy, range_, run.points);
      if (!run.points.empty()) wanted->recent.push_back(std::move(run));
    }
  }
  return {};
}

// The periods of the slots and of the points in heads, ascending.
std::vector<std::int64_t> EngineScan::Reader::slots_of_group() const {
  std::vector<std::int64_t> periods = periods_;
  const std::int64_t span = layout_.options().span_ms;
  for (const Wanted& wanted : group_) {
    for (const chunk::FlushedRun& run : wanted.recent) {
      const auto end = run.points.times.end();
      for (auto time = run.points.times.begin(); time != end;) {
        const std::int64_t period = *time / span;
        const auto place = std::ranges::lower_bound(periods, period);
        if (place == periods.end() || *place != period) periods.insert(place, period);
        time = std::lower_bound(time, end, (period + 1) * span);
      }
    }
  }
  return periods;
}

// Reads a slot until it is finished or there are enough blocks to return.
Result<void> EngineScan::Reader::read_some() {
  TRY_VOID(selection_->context().check());
  blocks_.reserve(group_.size());
  std::size_t points = 0;
  while (slot_series_ < group_.size() && blocks_.size() < kBlocksPerBatch &&
         points < kPointsPerBatch) {
    const Wanted& wanted = group_[slot_series_++];
    const std::size_t before = blocks_.size();
    const Result<void> read = read_slot(slots_[slot_], wanted);
    if (!read) return std::unexpected(of_series(read.error(), *wanted.series));
    for (std::size_t i = before; i < blocks_.size(); ++i) points += blocks_[i].size();
    if (blocks_.size() > before) blocks_.back().last = slot_ + 1 == slots_.size();
  }
  if (slot_series_ < group_.size()) return {};
  slot_series_ = 0;
  ++slot_;
  return {};
}

// Names the series with damaged points, so that the query can be repeated without it.
Error EngineScan::Reader::of_series(Error error, const Series& series) {
  if (error.code != Errc::kCorruption) return error;
  std::string tags;
  for (const auto& tag : series.tags) {
    tags += fmt::format("{}{}={}", tags.empty() ? "" : ",", tag.key, tag.value);
  }
  error.message =
      fmt::format("points of {}{{{}}} are damaged: {}", series.metric.text(), tags, error.message);
  return error;
}

Result<void> EngineScan::Reader::read_slot(std::int64_t period, const Wanted& wanted) {
  key_.clear();
  if (wanted.stored && std::ranges::binary_search(periods_, period) &&
      alive_->may_be_stored(period, wanted.series->id)) {
    append_series_key(key_, *wanted.series);
  }
  if (wanted.recent.empty() && key_.empty()) return {};
  const std::int64_t span = layout_.options().span_ms;
  const TimeRange range = {.begin = std::max(range_.begin, period * span),
                           .end = std::min(range_.end, (period + 1) * span)};
  if (totals_wished_) {
    TRY(const bool answered, read_totals(period, wanted, range));
    if (answered) return {};
  }
  if (key_.empty() && wanted.recent.size() == 1) {
    const chunk::PointsView part = wanted.recent.front().points.within(range);
    TRY_VOID(blocks_held_.add(part.size() * kPointBytes));
    add_blocks(wanted.series->id, part);
    return {};
  }
  TRY(chunk::Points points, points_of(period, wanted, range));
  if (points.size() > kBlockPointsMax) {
    add_blocks(wanted.series->id, points.view());
  } else if (!points.empty()) {
    Block& block = blocks_.emplace_back();
    block.series = wanted.series->id;
    set_floats(points.view(), block);
    block.times = std::move(points.times);
    block.values = std::move(points.values);
  }
  return {};
}

// False: all points must be decoded.
Result<bool> EngineScan::Reader::read_totals(std::int64_t period, const Wanted& wanted,
                                             TimeRange range) {
  if (key_.empty()) return false;
  const TimestampMs slot_begin = period * layout_.options().span_ms;
  choice_.begin(range);
  TRY(const UnsealedRange unsealed, stored_->unsealed(period, key_));
  if (unsealed.without_summary) return false;
  choice_.decode({.begin = slot_begin + unsealed.begin_ms, .end = slot_begin + unsealed.end_ms});
  for (const chunk::FlushedRun& run : wanted.recent) {
    choice_.decode({.begin = run.points.times.front(), .end = run.points.times.back() + 1});
  }
  if (!choice_.any()) return false;
  TRY(const SlotReader::Summary summary, stored_->read_summary(period, key_));
  // Without a summary there is no data, or its content is unknown.
  if (summary.must_decode || summary.summaries == nullptr) return false;
  choice_.take(*summary.summaries, totals_request_);
  TRY_VOID(add_pieces(period, wanted));
  return true;
}

Result<void> EngineScan::Reader::add_pieces(std::int64_t period, const Wanted& wanted) {
  const std::span<SummaryPlan::Piece> pieces = choice_.pieces();
  TimeRange decoded;  // covers all pieces to decode, in one call
  for (const SummaryPlan::Piece& piece : pieces) {
    if (!piece.decode) continue;
    if (decoded.end == 0) decoded.begin = piece.range.begin;
    decoded.end = piece.range.end;
  }
  chunk::Points points;
  if (decoded.end > 0) {
    TRY(points, points_of(period, wanted, decoded));
  }
  for (SummaryPlan::Piece& piece : pieces) {
    if (piece.decode) {
      add_blocks(wanted.series->id, points.within(piece.range));
    } else if (!piece.totals.empty()) {
      Block& block = blocks_.emplace_back();
      block.series = wanted.series->id;
      block.totals = std::move(piece.totals);
      work_.totals += block.totals.size();
    }
  }
  return {};
}

Result<chunk::Points> EngineScan::Reader::points_of(std::int64_t period, const Wanted& wanted,
                                                    TimeRange range) {
  StoredSeries stored;
  if (!key_.empty()) {
    TRY(stored, stored_->read(period, key_, range, &blocks_held_));
  }
  work_.chunks_decoded += stored.chunks_decoded;
  work_.chunks_skipped += stored.chunks_skipped;
  for (const chunk::FlushedRun& run : wanted.recent) {
    const chunk::PointsView part = run.points.within(range);
    if (part.size() == 0) continue;
    TRY_VOID(blocks_held_.add(part.size() * kPointBytes));
    stored.runs.push_back({.flush_number = run.flush_number, .points = {}});
    stored.runs.back().points.append(part);
  }
  return merge_runs(std::move(stored.runs), stored.tombstones, range);
}

void EngineScan::Reader::add_blocks(SeriesId id, chunk::PointsView points) {
  for (std::size_t begin = 0; begin < points.size(); begin += kBlockPointsMax) {
    const std::size_t count = std::min(kBlockPointsMax, points.size() - begin);
    Block& block = blocks_.emplace_back();
    block.series = id;
    const chunk::PointsView part = points.slice(begin, count);
    block.times.assign(part.times.begin(), part.times.end());
    block.values.assign(part.values.begin(), part.values.end());
    set_floats(part, block);
  }
}

EngineScan::EngineScan(std::shared_ptr<EngineContext> context,
                       std::shared_ptr<const RowSelection> selection, TimeRange range,
                       std::uint32_t shard, TotalsRequest totals_request)
    : context_(context),
      reader_(std::make_unique<Reader>(std::move(context), std::move(selection), range, shard,
                                       totals_request)) {}

EngineScan::~EngineScan() = default;

Task<std::vector<Block>> EngineScan::next() {
  CO_TRY_VOID(context_->check_open());
  co_return reader_->next();
}

}  // namespace halite::storage::engine
