// A point store made of a fixed set of series and their points, for tests of what reads.
//
// Blocks are short, of random lengths, and interleave over the series of a shard, as a store may
// hand them out. Only reading is offered. Safe for all threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/catalog/series_table.h"

namespace halite::test {

struct SamplePoint {
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
};

struct SampleSeries {
  SeriesName name;
  std::vector<SamplePoint> points;  // ascending, no time twice
};

class SamplePointStore final : public storage::PointStore {
 public:
  // Ids of names are given in the order in which the series show them.
  SamplePointStore(std::vector<SampleSeries> series, std::uint32_t shards, std::uint64_t seed);

  Task<storage::InternedSeries> intern(std::vector<SeriesName> names,
                                       storage::CreateNames create) override;
  [[nodiscard]] const storage::Series& series(storage::SeriesId id) const override;
  Task<storage::Accepted> append(storage::PointBatch batch) override;
  Task<std::shared_ptr<const storage::Selection>> select(storage::SeriesQuery query,
                                                         storage::ReadContext context) override;
  [[nodiscard]] std::uint32_t shard_count() const override { return shards_; }
  [[nodiscard]] std::unique_ptr<storage::BlockScan> scan(
      std::shared_ptr<const storage::Selection> selection, TimeRange range,
      std::uint32_t shard) override;
  [[nodiscard]] std::vector<storage::ShardSeriesCount> series_by_shard(
      const storage::Selection& selection) const override;
  Task<storage::PinnedSeries> lookup(std::shared_ptr<const storage::Selection> selection,
                                     std::size_t limit) override;
  Task<storage::PinnedLastPoints> last(std::shared_ptr<const storage::Selection> selection,
                                       TimeRange range) override;
  Task<std::uint64_t> delete_range(std::shared_ptr<const storage::Selection> selection,
                                   TimeRange range) override;
  Task<std::vector<std::string>> suggest(storage::NameKind kind, std::string prefix,
                                         std::size_t max) override;
  Task<void> settle() override { co_return Result<void>{}; }
  Task<void> flush() override;
  Task<void> seal() override;

 private:
  const std::vector<SampleSeries> samples_;
  const std::uint32_t shards_;
  const std::uint64_t seed_;
  storage::SeriesTable series_{{.series = 100'000}};
};

}  // namespace halite::test
