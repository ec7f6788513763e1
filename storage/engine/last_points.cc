#include "storage/engine/last_points.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "storage/engine/slot_reader.h"

namespace halite::storage::engine {
namespace {

// The runs of the head of the wanted series; points that stored tombstones hide are not in it,
// for a delete hides only generations that have been flushed.
std::map<SeriesId, std::vector<chunk::FlushedRun>> head_runs(
    const std::vector<std::shared_ptr<Head>>& heads, std::uint64_t flushed, std::uint32_t shard,
    std::span<const SeriesId> wanted, TimeRange range) {
  std::map<SeriesId, std::vector<chunk::FlushedRun>> runs;
  for (const std::shared_ptr<Head>& head : heads) {
    if (head->number() <= flushed) continue;
    for (const HeadPoints& copy : head->copy(shard, wanted, range)) {
      chunk::FlushedRun run;
      run.flush_number = head->number();
      read_stream(copy.bytes, copy.ordered, range, run.points);
      if (!run.points.empty()) runs[copy.id].push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace

Result<std::vector<LastPoint>> find_last_points(Core& core, const RowSelection& selection,
                                                TimeRange asked, std::uint32_t shard) {
  const CyclicLayout& layout = core.retention->layout_of(shard);
  const TimeRange range = layout.alive(asked, selection.now());
  std::vector<LastPoint> found;
  if (range.begin >= range.end) return found;
  const auto heads = core.generations.view();
  TRY(const auto reader, SlotReader::open(*core.chunks, layout, shard));
  TRY(const auto generations, reader->generations(range));
  const RowSelection::Known known = selection.known();
  const std::span<const SeriesId> wanted = known->of_shard(shard);
  auto recent = head_runs(heads, reader->flush_number(), shard, wanted, range);
  const std::int64_t span = layout.options().span_ms;
  for (const SeriesId id : wanted) {
    if (const auto& watch = selection.watch()) TRY_VOID(watch->check());
    chunk::Points newest = merge_runs(std::move(recent[id]), {}, range);
    const Bytes key = series_key(layout.widths(), core.registry.table().at(id).tsuid.bytes());
    for (auto generation = generations.rbegin(); generation != generations.rend(); ++generation) {
      // What the head has may be older than what was flushed before it.
      if (!newest.empty() && newest.times.back() >= (*generation + 1) * span) break;
      const TimeRange part = {.begin = std::max(range.begin, *generation * span),
                              .end = std::min(range.end, (*generation + 1) * span)};
      TRY(StoredSeries stored, reader->read(*generation, key, part));
      chunk::Points points = merge_runs(std::move(stored.runs), stored.tombstones, part);
      if (points.empty()) continue;
      // Of equal times the head's came last.
      if (newest.empty() || points.times.back() > newest.times.back()) newest = std::move(points);
      break;
    }
    if (newest.empty()) continue;
    const std::size_t i = newest.size() - 1;
    found.push_back({.series = id,
                     .time = newest.times[i],
                     .value = newest.values[i],
                     .is_float = newest.floats[i]});
  }
  return found;
}

}  // namespace halite::storage::engine
