#include "storage/tsdb/read/stored_series.h"

#include <iterator>
#include <limits>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kSeriesPerCheck = 4096;

}  // namespace

Result<void> each_stored_series(const EngineContext& context,
                                const ActiveSeries::ShardPeriod& shard_period,
                                std::uint64_t metric_uid,
                                const std::function<Result<void>(Bytes tsuid)>& visit) {
  const CyclicLayout& layout = context.retention->layout_of(shard_period.shard);
  const ShardSlot stored = {.shard = shard_period.shard,
                            .slot = layout.slot_of(shard_period.period)};
  Bytes metric;
  append_be_width(metric, metric_uid, layout.widths().metric);
  const Bytes begin = metric_prefix(stored, metric);
  TRY(const ChunkViews::View view, context.chunks->views.view(begin, prefix_end(begin)));
  Cursor& cursor = *view.cursor;
  for (cursor.seek(begin); cursor.valid();) {
    TRY(const ParsedKey key, parse_key(layout.widths(), cursor.key()));
    Bytes next = shard_slot_prefix(stored);
    next.append(key.series);
    if (key.cell.period < shard_period.period) {  // from an earlier period
      append_cell_key(next, {.period = static_cast<std::uint32_t>(shard_period.period),
                             .kind = CellKind{},
                             .offset_ms = 0,
                             .flush_number = 0});
      cursor.advance(next, {});
      continue;
    }
    if (key.cell.period == shard_period.period) {
      TRY_VOID(visit(tsuid_of(layout.widths(), key.series)));
    }
    cursor.advance(prefix_end(next), {});  // a seek looks into every file
  }
  return cursor.status();
}

Result<std::vector<Bytes>> find_unloaded_series(const EngineContext& context,
                                                std::uint64_t metric_uid, TimestampMs since,
                                                const ReadContext& read) {
  const SeriesTable& table = context.registry.table();
  boost::unordered_flat_set<Bytes> found;
  std::size_t visited = 0;
  const auto visit = [&](Bytes tsuid) -> Result<void> {
    if (++visited % kSeriesPerCheck == 0) {
      TRY_VOID(context.check_open());
      TRY_VOID(read.check());
    }
    if (!table.find(tsuid)) found.insert(std::move(tsuid));
    return {};
  };
  const TimeRange range = {.begin = since, .end = std::numeric_limits<TimestampMs>::max()};
  const TimestampMs now = context.clock.now_ms();
  for (std::uint32_t shard = 0; shard < context.retention->shard_count(); ++shard) {
    const CyclicLayout& layout = context.retention->layout_of(shard);
    TRY(const auto reader,
        SlotReader::open(context.chunks->views, layout, shard, ReadSource::kDisk));
    TRY(const std::vector<std::int64_t> periods, reader->periods(layout.alive(range, now)));
    for (const std::int64_t period : periods) {
      TRY_VOID(each_stored_series(context, {.period = period, .shard = shard}, metric_uid, visit));
    }
  }
  return std::vector<Bytes>(std::make_move_iterator(found.begin()),
                            std::make_move_iterator(found.end()));
}

}  // namespace halite::storage::engine
