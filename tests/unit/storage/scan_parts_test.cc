// A shard that is read in parts gives what it gives in one, for both layouts.
#include "storage/scan_parts.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "storage/schema/cyclic_layout.h"
#include "tests/unit/storage/cell_point_store_fixture.h"

namespace halite::storage {
namespace {

constexpr TimestampMs kHour = 3'600'000;
constexpr int kHours = 5;
constexpr int kSeries = 60;

class ScanPartsTest : public CellPointStoreTest {
 protected:
  static std::shared_ptr<const CyclicLayout> cyclic(std::uint32_t salts) {
    CyclicOptions options;
    options.salt_buckets = salts;
    options.span_ms = kHour;
    return CyclicLayout::make(options).value();
  }
  static std::shared_ptr<const OpentsdbLayout> opentsdb(std::uint32_t salts) {
    OpentsdbOptions options;
    options.salt_width = salts == 1 ? 0 : 1;
    options.salt_buckets = salts;
    return OpentsdbLayout::make(options).value();
  }

  template <class Layout>
  std::unique_ptr<CellPointStore> open_in_parts(std::shared_ptr<const Layout> layout,
                                                std::size_t parts) {
    CellPointStoreOptions options;
    options.scan.shared_tables = true;
    options.scan.parts_max = parts;
    options.scan.parts_series_min = 8;
    options.scan.rows_per_batch = 3;
    CellPointStore::Parts made{unruly_store_, layout,    layout->parameters(),
                               clock_,        executor_, metrics_};
    return run_task(CellPointStore::open(std::move(made), options)).value();
  }

  // Points of most hours, of some series a note's worth less.
  void fill(CellPointStore& points) {
    for (int series = 0; series < kSeries; ++series) {
      SeriesName name{"m", {{"host", "h" + std::to_string(series)}}};
      if (series % 3 == 0) name.tags.push_back({"rack", "r" + std::to_string(series % 7)});
      const SeriesId id = run_task(points.intern({name}, CreateNames())).value().front().value();
      PointBatch batch;
      for (int hour = 0; hour < kHours; ++hour) {
        if (random_() % 5 == 0) continue;
        for (std::size_t i = 1 + random_() % 4; i > 0; --i) {
          const auto at = static_cast<TimestampMs>(random_() % 3600) * 1000;
          batch.add(id, kHourBegin + hour * kHour + at, integer_bits(series), 0);
        }
      }
      if (batch.size() == 0) continue;
      ASSERT_TRUE(run_task(run_task(points.append(std::move(batch))).value().durable.wait()));
    }
  }

  // "series: times" of each, sorted; the times of one in the order in which they came.
  static std::vector<std::string> read_all(CellPointStore& points, TimeRange range) {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points.select(query)).value();
    std::map<Bytes, std::string> found;
    for (std::uint32_t shard = 0; shard < points.shard_count(); ++shard) {
      const auto scan = points.scan(selection, range, shard);
      for (;;) {
        const auto blocks = run_task(scan->next()).value();
        if (blocks.empty()) break;
        for (const Block& block : blocks) {
          std::string& text = found[Bytes(points.series(block.series).tsuid.bytes())];
          for (const TimestampMs time : block.times) text += " " + std::to_string(time);
        }
      }
      EXPECT_TRUE(run_task(scan->next()).value().empty());
    }
    std::vector<std::string> texts;
    for (const auto& [tsuid, text] : found) texts.push_back(to_hex(tsuid) + text);
    return texts;
  }

  template <class Layout>
  void expect_same(std::shared_ptr<const Layout> layout) {
    const auto one = open_in_parts(layout, 1);
    fill(*one);
    for (const std::size_t parts : {2U, 4U, 7U}) {
      const auto several = open_in_parts(layout, parts);
      // It knows the series once it has met them.
      ASSERT_EQ(read_all(*several, {0, kNow * 2}).size(), read_all(*one, {0, kNow * 2}).size());
      for (int round = 0; round < 12; ++round) {
        const TimestampMs begin =
            kHourBegin - kHour + static_cast<TimestampMs>(random_() % (kHours * kHour));
        const TimestampMs end = begin + static_cast<TimestampMs>(random_() % (kHours * kHour));
        const int scans = unruly_.scans;
        const auto found = read_all(*several, {begin, end});
        EXPECT_EQ(found, read_all(*one, {begin, end}));
        if (end > begin) EXPECT_GT(unruly_.scans - scans, 2) << "it was not cut";
      }
      EXPECT_TRUE(run_task(several->close()));
    }
    EXPECT_TRUE(run_task(one->close()));
  }

  std::mt19937 random_{4};
};

TEST_F(ScanPartsTest, OpentsdbRows) { expect_same(opentsdb(1)); }
TEST_F(ScanPartsTest, SaltedRows) { expect_same(opentsdb(2)); }
TEST_F(ScanPartsTest, RowsOfSlots) { expect_same(cyclic(1)); }

TEST_F(ScanPartsTest, AnErrorOfOnePartIsTheScans) {
  class Part final : public BlockScan {
   public:
    explicit Part(int blocks, bool fails) : blocks_(blocks), fails_(fails) {}
    Task<std::vector<Block>> next() override {
      if (blocks_-- > 0) co_return std::vector<Block>(1);
      if (fails_) co_return fail(Errc::kUnavailable, "gone");
      co_return std::vector<Block>();
    }

   private:
    int blocks_;
    const bool fails_;
  };
  for (const int at : {0, 1, 5}) {
    std::vector<std::unique_ptr<BlockScan>> parts;
    parts.push_back(std::make_unique<Part>(3, false));
    parts.push_back(std::make_unique<Part>(at, true));
    SideBySideScan scan(std::move(parts));
    Result<std::vector<Block>> blocks = run_task(scan.next());
    for (int i = 0; i < 20 && blocks && !blocks->empty(); ++i) blocks = run_task(scan.next());
    ASSERT_FALSE(blocks) << at;
    EXPECT_EQ(blocks.error().message, "gone");
  }
}

}  // namespace
}  // namespace halite::storage
