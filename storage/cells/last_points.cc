#include "storage/cells/last_points.h"

#include <algorithm>
#include <map>
#include <utility>

#include "storage/cells/cell_block_scan.h"

namespace halite::storage {
namespace {

constexpr std::int64_t kFirstWindowMs = 3'600'000;
constexpr std::int64_t kWindowGrowth = 4;

using Found = std::map<SeriesId, LastPoint>;

// Every point of the window is newer than those of the windows to come.
Task<void> search(CellBlockScan& scan, Found& found) {
  for (;;) {
    CO_TRY(const std::vector<Block> blocks, co_await scan.next());
    if (blocks.empty()) co_return Result<void>();
    for (const Block& block : blocks) {
      if (block.times.empty()) continue;
      const std::size_t newest = block.size() - 1;
      LastPoint& last = found[block.series];
      last =
          LastPoint{block.series, block.times[newest], block.values[newest], block.floats[newest]};
    }
  }
}

// With other writers, a series may exist that this process does not know. Then only the series with
// a point are excluded.
SeriesChoice still_missing(const RowSource& source, const RowSelection& selection,
                           std::uint32_t shard, const Found& found) {
  SeriesChoice missing;
  if (source.options.shared_tables) {
    for (const auto& [id, point] : found) missing.except.push_back(id);
    return missing;
  }
  const RowSelection::Known known = selection.known();
  missing.only.emplace();
  std::ranges::copy_if(known->of_shard(shard), std::back_inserter(*missing.only),
                       [&found](SeriesId id) { return !found.contains(id); });
  return missing;
}

}  // namespace

Task<std::vector<LastPoint>> find_last_points(const RowSource& source,
                                              std::shared_ptr<const RowSelection> selection,
                                              TimeRange range, std::uint32_t shard) {
  Found found;
  // The first window extends to the end of the range, because few points lie in the future.
  TimestampMs end = range.end;
  TimestampMs begin = std::max(range.begin, std::min(range.end, selection->now()) - kFirstWindowMs);
  std::int64_t window_ms = kFirstWindowMs;
  SeriesChoice missing;
  while (begin < end && (!missing.only || !missing.only->empty())) {
    auto rows = std::make_unique<RowScan>(source, selection, TimeRange{begin, end}, shard, missing);
    CellBlockScan scan(source.layout, std::move(rows));
    CO_TRY_VOID(co_await search(scan, found));
    missing = still_missing(source, *selection, shard, found);
    if (begin <= range.begin) break;
    end = begin;
    window_ms *= kWindowGrowth;
    begin = begin - range.begin > window_ms ? begin - window_ms : range.begin;
  }
  std::vector<LastPoint> points;
  points.reserve(found.size());
  for (const auto& [id, point] : found) points.push_back(point);
  co_return points;
}

}  // namespace halite::storage
