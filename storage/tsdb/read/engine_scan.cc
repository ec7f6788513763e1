#include "storage/tsdb/read/engine_scan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
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

chunk::PointsView part_of(const chunk::Points& points, TimeRange range) {
  const auto begin = std::ranges::lower_bound(points.times, range.begin);
  const auto end = std::lower_bound(begin, points.times.end(), range.end);
  return points.view().slice(static_cast<std::size_t>(begin - points.times.begin()),
                             static_cast<std::size_t>(end - begin));
}

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
    SeriesId id = 0;
    Bytes key;  // chunk_key.h: series_key(); empty if all points are in heads
  };
  using HeadRuns = boost::unordered_flat_map<SeriesId, std::vector<chunk::FlushedRun>>;

  Result<void> start();
  Result<void> begin_group();
  Result<void> read_some();
  [[nodiscard]] std::vector<std::int64_t> slots_of_group() const;
  [[nodiscard]] bool may_be_stored(const Wanted& series, std::int64_t period) const {
    return !series.key.empty() && std::ranges::binary_search(periods_, period);
  }
  Result<void> take_heads();
  struct HeadCopies {
    std::uint64_t flush_number = 0;
    std::vector<HeadPoints> series;
  };
  [[nodiscard]] std::vector<HeadCopies> copy_heads() const;
  Result<void> read_slot(std::int64_t period, const Wanted& series);
  Result<bool> read_totals(std::int64_t period, const Wanted& series, TimeRange range);
  Result<void> add_pieces(std::int64_t period, const Wanted& series);
  Result<chunk::Points> points_of(std::int64_t period, const Wanted& series, TimeRange range);
  [[nodiscard]] Error of_series(Error error, SeriesId id) const;
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
  bool totals_wished_ = false;
  SummaryPlan choice_;

  // Groups of series are read slot by slot, in storage order. Blocks are returned in between.
  std::size_t group_series_ = kSeriesPerGroup;  // maximum; fewer if heads have many points of each
  std::span<const Wanted> group_;               // of wanted_
  std::size_t next_series_ = 0;                 // in wanted_, after the group
  HeadRuns head_runs_;                          // of the group
  MemoryReservation heads_held_;                // for head_runs_
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
  bool any_key = false;
  for (const SeriesId id : alive_->alive(known->of_shard(shard_))) {
    Wanted& series = wanted_.emplace_back(Wanted{.id = id, .key = {}});
    const auto may_be_stored = [this, id](std::int64_t period) {
      return alive_->may_be_stored(period, id);
    };
    if (std::ranges::none_of(periods_, may_be_stored)) continue;  // all points are in heads
    series.key = series_key(layout_.widths(), table.at(id).tsuid.bytes());
    any_key = true;
  }
  if (any_key) std::ranges::sort(wanted_, {}, &Wanted::key);
  return {};
}

// Starts the next group: fewer series if heads have many points of each.
Result<void> EngineScan::Reader::begin_group() {
  TRY_VOID(selection_->context().check());
  const std::size_t count = std::min(group_series_, wanted_.size() - next_series_);
  group_ = std::span<const Wanted>(wanted_).subspan(next_series_, count);
  TRY_VOID(take_heads());
  next_series_ += group_.size();
  slots_ = slots_of_group();
  slot_ = 0;
  slot_series_ = 0;
  return {};
}

std::vector<EngineScan::Reader::HeadCopies> EngineScan::Reader::copy_heads() const {
  std::vector<SeriesId> ids;
  ids.reserve(group_.size());
  for (const Wanted& series : group_) ids.push_back(series.id);
  std::vector<HeadCopies> copies;
  for (const std::shared_ptr<Head>& head : heads_) {
    copies.push_back({.flush_number = head->number(), .series = head->copy(shard_, ids, range_)});
  }
  return copies;
}

// Sets head_runs_; shortens the group if it would have too many points.
Result<void> EngineScan::Reader::take_heads() {
  head_runs_.clear();
  heads_held_.give_back();
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
    for (const HeadPoints& copy : head.series) {
      chunk::FlushedRun run;
      run.flush_number = head.flush_number;
      read_points(copy, range_, run.points);
      if (!run.points.empty()) head_runs_[copy.id].push_back(std::move(run));
    }
  }
  return {};
}

// The periods of the slots and of the points in heads, ascending.
std::vector<std::int64_t> EngineScan::Reader::slots_of_group() const {
  std::vector<std::int64_t> periods = periods_;
  const std::int64_t span = layout_.options().span_ms;
  for (const auto& [id, runs] : head_runs_) {
    for (const chunk::FlushedRun& run : runs) {
      for (const TimestampMs time : run.points.times) {
        const std::int64_t period = time / span;
        const auto place = std::ranges::lower_bound(periods, period);
        if (place == periods.end() || *place != period) {
          periods.insert(place, period);
        }
      }
    }
  }
  return periods;
}

// Reads a slot until it is finished or there are enough blocks to return.
Result<void> EngineScan::Reader::read_some() {
  TRY_VOID(selection_->context().check());
  while (slot_series_ < group_.size() && blocks_.size() < kBlocksPerBatch) {
    const Wanted& series = group_[slot_series_++];
    const Result<void> read = read_slot(slots_[slot_], series);
    if (!read) return std::unexpected(of_series(read.error(), series.id));
  }
  if (slot_series_ < group_.size()) return {};
  slot_series_ = 0;
  ++slot_;
  return {};
}

// Names the series with damaged points, so that the query can be repeated without it.
Error EngineScan::Reader::of_series(Error error, SeriesId id) const {
  if (error.code != Errc::kCorruption) return error;
  const Series& series = context_->registry.table().at(id);
  std::string tags;
  for (const auto& tag : series.tags) {
    tags += fmt::format("{}{}={}", tags.empty() ? "" : ",", tag.key, tag.value);
  }
  error.message =
      fmt::format("points of {}{{{}}} are damaged: {}", series.metric, tags, error.message);
  return error;
}

Result<void> EngineScan::Reader::read_slot(std::int64_t period, const Wanted& series) {
  if (!head_runs_.contains(series.id) && !alive_->may_be_stored(period, series.id)) return {};
  const std::int64_t span = layout_.options().span_ms;
  const TimeRange range = {.begin = std::max(range_.begin, period * span),
                           .end = std::min(range_.end, (period + 1) * span)};
  if (totals_wished_) {
    TRY(const bool answered, read_totals(period, series, range));
    if (answered) return {};
  }
  TRY(chunk::Points points, points_of(period, series, range));
  if (points.size() > kBlockPointsMax) {
    add_blocks(series.id, points.view());
  } else if (!points.empty()) {
    Block& block = blocks_.emplace_back();
    block.series = series.id;
    set_floats(points.view(), block);
    block.times = std::move(points.times);
    block.values = std::move(points.values);
  }
  return {};
}

// False: all points must be decoded.
Result<bool> EngineScan::Reader::read_totals(std::int64_t period, const Wanted& series,
                                             TimeRange range) {
  if (!may_be_stored(series, period)) return false;
  const TimestampMs slot_begin = period * layout_.options().span_ms;
  choice_.begin(range);
  TRY(const UnsealedRange unsealed, stored_->unsealed(period, series.key));
  if (unsealed.without_summary) return false;
  choice_.decode({.begin = slot_begin + unsealed.begin_ms, .end = slot_begin + unsealed.end_ms});
  if (const auto recent = head_runs_.find(series.id); recent != head_runs_.end()) {
    for (const chunk::FlushedRun& run : recent->second) {
      choice_.decode({.begin = run.points.times.front(), .end = run.points.times.back() + 1});
    }
  }
  if (!choice_.any()) return false;
  TRY(const SlotReader::Summary summary, stored_->read_summary(period, series.key));
  // Without a summary there is no data, or its content is unknown.
  if (summary.must_decode || summary.summaries == nullptr) return false;
  choice_.take(*summary.summaries, totals_request_);
  TRY_VOID(add_pieces(period, series));
  return true;
}

Result<void> EngineScan::Reader::add_pieces(std::int64_t period, const Wanted& series) {
  const std::span<SummaryPlan::Piece> pieces = choice_.pieces();
  TimeRange decoded;  // covers all pieces to decode, in one call
  for (const SummaryPlan::Piece& piece : pieces) {
    if (!piece.decode) continue;
    if (decoded.end == 0) decoded.begin = piece.range.begin;
    decoded.end = piece.range.end;
  }
  chunk::Points points;
  if (decoded.end > 0) {
    TRY(points, points_of(period, series, decoded));
  }
  for (SummaryPlan::Piece& piece : pieces) {
    if (piece.decode) {
      add_blocks(series.id, part_of(points, piece.range));
    } else if (!piece.totals.empty()) {
      Block& block = blocks_.emplace_back();
      block.series = series.id;
      block.totals = std::move(piece.totals);
      work_.totals += block.totals.size();
    }
  }
  return {};
}

Result<chunk::Points> EngineScan::Reader::points_of(std::int64_t period, const Wanted& series,
                                                    TimeRange range) {
  StoredSeries stored;
  if (may_be_stored(series, period)) {
    TRY(stored, stored_->read(period, series.key, range, &blocks_held_));
  }
  work_.chunks_decoded += stored.chunks_decoded;
  work_.chunks_skipped += stored.chunks_skipped;
  const auto recent = head_runs_.find(series.id);
  if (recent != head_runs_.end()) {
    for (const chunk::FlushedRun& run : recent->second) {
      const chunk::PointsView part = part_of(run.points, range);
      if (part.size() == 0) continue;
      TRY_VOID(blocks_held_.add(part.size() * kPointBytes));
      stored.runs.push_back({.flush_number = run.flush_number, .points = {}});
      stored.runs.back().points.append(part);
    }
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
