#include "storage/tsdb/read/estimate.h"

#include <algorithm>
#include <span>
#include <vector>

#include "storage/tsdb/chunk_db/slot_reader.h"

namespace halite::storage::engine {
namespace {

struct Sample {
  std::uint64_t chunks = 0;
  std::uint64_t points = 0;
  std::uint64_t bytes = 0;
};

Result<void> add_series(EngineContext& context, SlotReader& reader,
                        const std::vector<std::int64_t>& periods, SeriesId id, TimeRange range,
                        Sample& sample) {
  const Series& series = context.registry.table().at(id);
  const Bytes key = series_key(context.retention->base().widths(), series.tsuid.bytes());
  for (const std::int64_t period : periods) {
    TRY(const SlotReader::Extent extent, reader.measure(period, key, range));
    sample.chunks += extent.chunks;
    sample.points += extent.points;
    sample.bytes += extent.bytes;
  }
  const std::span<const SeriesId> one(&id, 1);
  for (const std::shared_ptr<Head>& head : context.head_list.view()) {
    if (head->number() <= reader.flush_number()) continue;
    for (const HeadPoints& points : head->copy(series.shard, one, range)) {
      sample.points += points.points;
      sample.bytes += points.bytes.size();
    }
  }
  return {};
}

}  // namespace

Result<ReadEstimate> estimate_reading(EngineContext& context, const RowSelection& selection,
                                      TimeRange asked) {
  const RowSelection::Known known = selection.known();
  ReadEstimate estimate;
  estimate.series = known->size();
  if (asked.begin >= asked.end || known->size() == 0) return estimate;
  const std::size_t a_shard =
      std::max<std::size_t>(1, kEstimatedSeries / context.retention->base().salt_buckets());
  std::uint64_t looked_at = 0;
  Sample sample;
  for (std::uint32_t shard = 0; shard < context.retention->shard_count(); ++shard) {
    const CyclicLayout& layout = context.retention->layout_of(shard);
    const TimeRange range = layout.alive(asked, selection.now());
    const std::span<const SeriesId> wanted = known->of_shard(shard);
    if (wanted.empty()) continue;
    TRY_VOID(selection.context().check());
    TRY(const auto reader,
        SlotReader::open(context.chunks->views, layout, shard, ReadSource::kDisk));
    TRY(const auto periods, reader->periods(range));
    const std::size_t step = std::max<std::size_t>(1, wanted.size() / a_shard);
    for (std::size_t i = 0; i < wanted.size(); i += step) {
      TRY_VOID(add_series(context, *reader, periods, wanted[i], range, sample));
      ++looked_at;
    }
  }
  const auto of_all = [&](std::uint64_t part) { return part * known->size() / looked_at; };
  estimate.points = of_all(sample.points);
  estimate.bytes = of_all(sample.bytes);
  estimate.rows = of_all(sample.chunks);
  return estimate;
}

}  // namespace halite::storage::engine
