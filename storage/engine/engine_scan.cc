#include "storage/engine/engine_scan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "storage/engine/alive_filter.h"
#include "storage/engine/span_totals.h"
#include "storage/memory_only.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kSeriesPerGroup = 64;
constexpr std::size_t kBlocksPerBatch = 256;

chunk::PointsView part_of(const chunk::Points& points, TimeRange range) {
  const auto begin = std::ranges::lower_bound(points.times, range.begin);
  const auto end = std::lower_bound(begin, points.times.end(), range.end);
  return points.view().slice(static_cast<std::size_t>(begin - points.times.begin()),
                             static_cast<std::size_t>(end - begin));
}

}  // namespace

class EngineScan::Reader {
 public:
  Reader(std::shared_ptr<Core> core, std::shared_ptr<const RowSelection> selection, TimeRange range,
         std::uint32_t shard, TotalsWish wish)
      : core_(std::move(core)),
        selection_(std::move(selection)),
        layout_(core_->retention->layout_of(shard)),
        range_(layout_.alive(range, selection_->now())),
        shard_(shard),
        wish_(wish) {}

  // Blocks; none when the shard is finished.
  Result<std::vector<Block>> next() {
    if (!started_) TRY_VOID(start());
    if (taken_ == blocks_.size()) {
      blocks_.clear();
      taken_ = 0;
      while (blocks_.empty() && next_series_ < wanted_.size()) TRY_VOID(read_group());
    }
    if (blocks_.size() <= kBlocksPerBatch) return std::exchange(blocks_, {});
    const std::size_t count = std::min(kBlocksPerBatch, blocks_.size() - taken_);
    const auto begin = blocks_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ += count;
    return std::vector<Block>(std::make_move_iterator(begin),
                              std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(count)));
  }

 private:
  struct Wanted {
    SeriesId id = 0;
    Bytes key;  // chunk_key.h: series_key()
  };
  using HeadRuns = std::map<SeriesId, std::vector<chunk::FlushedRun>>;

  Result<void> start();
  Result<void> read_group();
  [[nodiscard]] std::vector<std::int64_t> generations_with(const HeadRuns& heads) const;
  [[nodiscard]] HeadRuns head_runs(std::span<const Wanted> group) const;
  Result<void> read_slot(std::int64_t generation, const Wanted& series, const HeadRuns& heads);
  Result<bool> read_totals(std::int64_t generation, const Wanted& series, const HeadRuns& heads,
                           TimeRange range);
  Result<void> add_pieces(std::int64_t generation, const Wanted& series, const HeadRuns& heads);
  Result<chunk::Points> points_of(std::int64_t generation, const Wanted& series,
                                  const HeadRuns& heads, TimeRange range);
  void add_blocks(SeriesId id, chunk::PointsView points);

  const std::shared_ptr<Core> core_;
  const std::shared_ptr<const RowSelection> selection_;
  const CyclicLayout& layout_;
  const TimeRange range_;
  const std::uint32_t shard_;
  const TotalsWish wish_;

  bool started_ = false;
  std::vector<std::shared_ptr<Head>> heads_;  // whose points are not in the chunks that are read
  std::unique_ptr<SlotReader> stored_;
  std::vector<std::int64_t> generations_;
  std::optional<AliveFilter> alive_;
  std::vector<Wanted> wanted_;  // in the order of their keys
  std::size_t next_series_ = 0;
  bool totals_wished_ = false;
  SpanChoice choice_;
  std::vector<Block> blocks_;
  std::size_t taken_ = 0;  // of blocks_
};

Result<void> EngineScan::Reader::start() {
  started_ = true;
  totals_wished_ = fits(wish_, layout_);
  if (range_.begin >= range_.end) return {};
  heads_ = core_->generations.view();
  TRY(stored_,
      SlotReader::open(*core_->chunks, layout_, shard_,
                       memory_only(selection_->watch()) ? ReadFrom::kMemory : ReadFrom::kDisk));
  std::erase_if(heads_, [this](const std::shared_ptr<Head>& head) {
    return head->number() <= stored_->flush_number();
  });
  TRY(generations_, stored_->generations(range_));
  const SeriesTable& table = core_->registry.table();
  const RowSelection::Known known = selection_->known();
  TRY(alive_, AliveFilter::make(*core_, *selection_,
                                {.shard = shard_, .generations = generations_, .heads = heads_}));
  for (const SeriesId id : alive_->alive(known->of_shard(shard_))) {
    wanted_.push_back({.id = id, .key = series_key(layout_.widths(), table.at(id).tsuid.bytes())});
  }
  std::ranges::sort(wanted_, {}, &Wanted::key);
  return {};
}

EngineScan::Reader::HeadRuns EngineScan::Reader::head_runs(std::span<const Wanted> group) const {
  if (heads_.empty()) return {};
  std::vector<SeriesId> ids;
  ids.reserve(group.size());
  for (const Wanted& series : group) ids.push_back(series.id);
  HeadRuns runs;
  for (const std::shared_ptr<Head>& head : heads_) {
    for (const HeadPoints& copy : head->copy(shard_, ids, range_)) {
      chunk::FlushedRun run;
      run.flush_number = head->number();
      read_points(copy, range_, run.points);
      if (!run.points.empty()) runs[copy.id].push_back(std::move(run));
    }
  }
  return runs;
}

// Those of the slots and those that the points of heads are in, ascending.
std::vector<std::int64_t> EngineScan::Reader::generations_with(const HeadRuns& heads) const {
  std::vector<std::int64_t> generations = generations_;
  const std::int64_t span = layout_.options().span_ms;
  for (const auto& [id, runs] : heads) {
    for (const chunk::FlushedRun& run : runs) {
      for (const TimestampMs time : run.points.times) {
        const std::int64_t generation = time / span;
        const auto place = std::ranges::lower_bound(generations, generation);
        if (place == generations.end() || *place != generation) {
          generations.insert(place, generation);
        }
      }
    }
  }
  return generations;
}

Result<void> EngineScan::Reader::read_group() {
  if (const auto& watch = selection_->watch()) TRY_VOID(watch->check());
  const std::size_t count = std::min(kSeriesPerGroup, wanted_.size() - next_series_);
  const auto group = std::span<const Wanted>(wanted_).subspan(next_series_, count);
  next_series_ += count;
  const HeadRuns heads = head_runs(group);
  for (const std::int64_t generation : generations_with(heads)) {
    if (const auto& watch = selection_->watch()) TRY_VOID(watch->check());
    for (const Wanted& series : group) TRY_VOID(read_slot(generation, series, heads));
  }
  return {};
}

Result<void> EngineScan::Reader::read_slot(std::int64_t generation, const Wanted& series,
                                           const HeadRuns& heads) {
  if (!heads.contains(series.id) && !alive_->may_be_stored(generation, series.id)) return {};
  const std::int64_t span = layout_.options().span_ms;
  const TimeRange range = {.begin = std::max(range_.begin, generation * span),
                           .end = std::min(range_.end, (generation + 1) * span)};
  if (totals_wished_) {
    TRY(const bool answered, read_totals(generation, series, heads, range));
    if (answered) return {};
  }
  TRY(const chunk::Points points, points_of(generation, series, heads, range));
  add_blocks(series.id, points.view());
  return {};
}

// False where nothing but decoding all will do.
Result<bool> EngineScan::Reader::read_totals(std::int64_t generation, const Wanted& series,
                                             const HeadRuns& heads, TimeRange range) {
  const TimestampMs slot_begin = generation * layout_.options().span_ms;
  choice_.begin(range);
  TRY(const Unsealed unsealed, stored_->unsealed(generation, series.key));
  if (unsealed.without_summary) return false;
  choice_.decode({.begin = slot_begin + unsealed.begin_ms, .end = slot_begin + unsealed.end_ms});
  if (const auto recent = heads.find(series.id); recent != heads.end()) {
    for (const chunk::FlushedRun& run : recent->second) {
      choice_.decode({.begin = run.points.times.front(), .end = run.points.times.back() + 1});
    }
  }
  if (!choice_.any()) return false;
  TRY(const SlotReader::Summary summary, stored_->read_summary(generation, series.key));
  if (summary.must_decode) return false;
  if (summary.summaries != nullptr) choice_.take(*summary.summaries, wish_);
  TRY_VOID(add_pieces(generation, series, heads));
  return true;
}

Result<void> EngineScan::Reader::add_pieces(std::int64_t generation, const Wanted& series,
                                            const HeadRuns& heads) {
  const std::span<SpanChoice::Piece> pieces = choice_.pieces();
  TimeRange decoded;  // from the first to the last piece to decode, at once
  for (const SpanChoice::Piece& piece : pieces) {
    if (!piece.decode) continue;
    if (decoded.end == 0) decoded.begin = piece.range.begin;
    decoded.end = piece.range.end;
  }
  chunk::Points points;
  if (decoded.end > 0) {
    TRY(points, points_of(generation, series, heads, decoded));
  }
  for (SpanChoice::Piece& piece : pieces) {
    if (piece.decode) {
      add_blocks(series.id, part_of(points, piece.range));
    } else if (!piece.totals.empty()) {
      Block& block = blocks_.emplace_back();
      block.series = series.id;
      block.totals = std::move(piece.totals);
    }
  }
  return {};
}

Result<chunk::Points> EngineScan::Reader::points_of(std::int64_t generation, const Wanted& series,
                                                    const HeadRuns& heads, TimeRange range) {
  TRY(StoredSeries stored, stored_->read(generation, series.key, range));
  const auto recent = heads.find(series.id);
  if (recent != heads.end()) {
    for (const chunk::FlushedRun& run : recent->second) {
      const chunk::PointsView part = part_of(run.points, range);
      if (part.size() == 0) continue;
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
    const std::size_t floats = part.float_count();
    if (floats == count) {
      block.floats = ~block.floats >> (kBlockPointsMax - count);
    } else if (floats > 0) {
      for (std::size_t i = 0; i < count; ++i) block.floats[i] = part.is_float(i);
    }
  }
}

EngineScan::EngineScan(std::shared_ptr<Core> core, std::shared_ptr<const RowSelection> selection,
                       TimeRange range, std::uint32_t shard, TotalsWish wish)
    : core_(core),
      reader_(std::make_unique<Reader>(std::move(core), std::move(selection), range, shard, wish)) {
}

EngineScan::~EngineScan() = default;

Task<std::vector<Block>> EngineScan::next() {
  CO_TRY_VOID(core_->check_open());
  co_return reader_->next();
}

}  // namespace halite::storage::engine
