#include "storage/cells/counters/counter_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/catalog/select_series.h"
#include "storage/cells/layouts/rollup_layout.h"
#include "storage/cells/rollups/rollup_block_scan.h"

namespace halite::storage {
namespace {

// The sums of one bucket's table.
class Sums final : public BlockSource {
 public:
  Sums(std::unique_ptr<RollupLayout> layout, std::shared_ptr<Table> table, SeriesRegistry& registry,
       RowScanOptions options, TimestampMs kept_from)
      : layout_(std::move(layout)),
        rows_{.table = std::move(table),
              .family = kCounterFamily,
              .layout = *layout_,
              .registry = registry,
              .options = options},
        kept_from_(kept_from) {}

  [[nodiscard]] const Series& series(SeriesId id) const override {
    return rows_.registry.table().at(id);
  }
  [[nodiscard]] std::uint32_t shard_count() const override { return layout_->salt_buckets(); }
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override {
    range.begin = std::max(range.begin, kept_from_);
    auto rows = std::make_unique<RowScan>(rows_, as_rows(selection), range, shard);
    return std::make_unique<RollupBlockScan>(*layout_, nullptr, std::move(rows));
  }

 private:
  const std::unique_ptr<RollupLayout> layout_;
  const RowSource rows_;
  const TimestampMs kept_from_;
};

// The sums of all time, at one time of the query.
class LifetimeSums final : public BlockSource {
 public:
  LifetimeSums(std::unique_ptr<BlockSource> stored, TimestampMs at)
      : stored_(std::move(stored)), at_(at) {}

  [[nodiscard]] const Series& series(SeriesId id) const override { return stored_->series(id); }
  [[nodiscard]] std::uint32_t shard_count() const override { return stored_->shard_count(); }
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override {
    const bool inside = at_ >= range.begin && at_ < range.end;
    return std::make_unique<Scan>(
        inside ? stored_->scan(std::move(selection), {0, 1}, shard) : nullptr, at_);
  }

 private:
  class Scan final : public BlockScan {
   public:
    Scan(std::unique_ptr<BlockScan> stored, TimestampMs at) : stored_(std::move(stored)), at_(at) {}
    Task<std::vector<Block>> next() override {
      if (stored_ == nullptr) co_return std::vector<Block>();
      CO_TRY(std::vector<Block> blocks, co_await stored_->next());
      for (Block& block : blocks) std::ranges::fill(block.times, at_);
      co_return blocks;
    }

   private:
    const std::unique_ptr<BlockScan> stored_;
    const TimestampMs at_;
  };

  const std::unique_ptr<BlockSource> stored_;
  const TimestampMs at_;
};

// No sums: the table does not exist yet.
class NoSums final : public BlockSource {
 public:
  explicit NoSums(const PointStore& points) : points_(points) {}
  [[nodiscard]] const Series& series(SeriesId id) const override { return points_.series(id); }
  [[nodiscard]] std::uint32_t shard_count() const override { return 0; }
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection>, TimeRange,
                                                std::uint32_t) override {
    return nullptr;
  }

 private:
  const PointStore& points_;
};

}  // namespace

std::unique_ptr<BlockSource> stored_sums(const CounterBucket& bucket,
                                         std::shared_ptr<const OpentsdbLayout> rows,
                                         std::shared_ptr<Table> table, SeriesRegistry& registry,
                                         const RowScanOptions& options, SumTimes times) {
  auto layout = std::make_unique<RollupLayout>(std::move(rows), bucket.rows,
                                               RollupAggregator{kCounterAggregatorId, "sum"});
  const TimestampMs kept_from =
      bucket.keep_ms == 0 ? 0 : times.now - bucket.keep_ms - bucket.length_ms + 1;
  auto stored =
      std::make_unique<Sums>(std::move(layout), std::move(table), registry, options, kept_from);
  if (bucket.length_ms != 0) return stored;
  return std::make_unique<LifetimeSums>(std::move(stored), times.all_at);
}

std::unique_ptr<BlockSource> no_sums(const PointStore& points) {
  return std::make_unique<NoSums>(points);
}

}  // namespace halite::storage
