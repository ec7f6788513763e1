// Batches of points as files, on a fake HBase whose regions are split and whose directory fails.
#include "storage/backends/hbase/point_load/point_loader.h"

#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/files/files.h"
#include "storage/files/posix_files.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/hooked_load_directory.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TimestampMs kHour = 1'356'998'400'000;
constexpr TimestampMs kNow = 1'700'000'000'000;

NewSeries series(std::string_view host, std::uint64_t host_uid) {
  NewSeries made;
  made.metric_uid = 1;
  made.metric = "m";
  append_be_width(made.tsuid, 1, 3);
  append_be_width(made.tsuid, 1, 3);
  append_be_width(made.tsuid, host_uid, 3);
  made.tags.push_back({.key = "host", .value = host, .key_uid = 1, .value_uid = host_uid});
  return made;
}

class PointLoaderTest : public testing::Test {
 protected:
  void SetUp() override {
    HBaseStoreOptions options;
    options.client.registry = {hbase_.endpoint(0)};
    options.client.pause_ms_min = 1;
    hbase_.set_staging(dir_.path() + "/staging");
    store_ = std::make_unique<HBaseStore>(options, clock_, registry_);
  }
  void TearDown() override {
    loader_.reset();
    cells_.reset();
    EXPECT_TRUE(run_task(store_->close()));
  }

  // Split between hosts 3 and 4 of the first hour.
  Result<void> open(bool fill_gaps = false, std::int64_t ttl_ms = 0) {
    TableSpec spec{.name = "tsdb", .families = {{.name = "t", .ttl_ms = ttl_ms}}, .split_keys = {}};
    spec.split_keys = {row(4)};
    TRY(cells_, run_task(store_->open_table(spec)));
    TRY(auto directory,
        hbase::open_load_directory("file://" + dir_.path() + "/files", *files_, {}));
    PointLoaderOptions options{.fill_gaps = fill_gaps, .attempts_max = 3};
    options.load.pause_ms = 1;
    TRY(loader_,
        run_task(PointLoader::open(
            {.client = store_->client(),
             .cells = cells_,
             .table = "tsdb",
             .family = "t",
             .expires = ttl_ms != 0,
             .layout = layout_,
             .series = *table_,
             .clock = clock_,
             .directory = std::make_shared<test::HookedLoadDirectory>(std::move(directory), hook_)},
            options)));
    return {};
  }

  Bytes row(std::uint64_t host) const { return layout_->row_key(series("", host).tsuid, kHour); }
  SeriesId id(std::uint64_t host) {
    return table_->add(series(fmt::format("h{}", host), host)).value();
  }
  // One point of each of eight hosts.
  PointBatch batch(std::int64_t value) {
    PointBatch made;
    for (std::uint64_t host = 1; host <= 8; ++host)
      made.add(id(host), kHour, integer_bits(value), 0);
    return made;
  }
  std::string values() const {
    std::string all;
    for (std::uint64_t host = 1; host <= 8; ++host) {
      const std::string text = hbase_.row_text("tsdb", row(host));
      all += text.empty() ? "-" : to_hex(text.substr(text.find('=') + 1));
    }
    return all;
  }

  test::TempDir dir_;
  const std::shared_ptr<FileSystem> files_ = posix_files();
  FakeClock clock_{kNow};
  prometheus::Registry registry_;
  test::FakeHBase hbase_{1};
  test::HookedLoadDirectory::Hook hook_;
  const std::unique_ptr<SeriesTable> table_ = std::make_unique<SeriesTable>(SeriesLimits());
  const std::shared_ptr<const OpentsdbLayout> layout_ = OpentsdbLayout::make({}).value();
  std::unique_ptr<HBaseStore> store_;
  std::shared_ptr<Table> cells_;
  std::unique_ptr<PointLoader> loader_;
};

TEST_F(PointLoaderTest, EachRegionGetsAFile) {
  ASSERT_TRUE(open());
  const auto loaded = run_task(loader_->load(batch(5)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->points, 8U);
  EXPECT_EQ(loaded->rows, 8U);
  EXPECT_EQ(loaded->files, 2U);
  EXPECT_EQ(values(), "0505050505050505");
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/files/t"));
}

// In the same millisecond, too.
TEST_F(PointLoaderTest, TheLastOfEqualPointsWins) {
  ASSERT_TRUE(open());
  PointBatch twice = batch(1);
  const PointBatch again = batch(2);
  for (std::size_t i = 0; i < again.size(); ++i) {
    twice.add(again.series[i], again.times[i], again.values[i], again.flags[i]);
  }
  EXPECT_EQ(run_task(loader_->load(twice)).value().points, 8U);
  EXPECT_EQ(values(), "0202020202020202");
  ASSERT_TRUE(run_task(loader_->load(batch(3))));
  EXPECT_EQ(values(), "0303030303030303");
}

TEST_F(PointLoaderTest, GapsAreFilledAndNothingElse) {
  ASSERT_TRUE(open());
  PointBatch few;
  few.add(id(2), kHour, integer_bits(1), 0);
  ASSERT_TRUE(run_task(loader_->load(few)));
  EXPECT_EQ(values(), "-01------");
  ASSERT_TRUE(open(true));
  ASSERT_TRUE(run_task(loader_->load(batch(2))));
  EXPECT_EQ(values(), "0201020202020202");
}

TEST_F(PointLoaderTest, GapsOfATableWithATtlAreRefused) {
  const Result<void> refused = open(true, 86'400'000);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("tsdb, which has a TTL"));
  EXPECT_TRUE(open(false, 86'400'000));
}

TEST_F(PointLoaderTest, RowsOfARegionThatIsSplitAreCutAgain) {
  ASSERT_TRUE(open());
  int calls = 0;
  hook_ = [&]() -> Result<void> {
    if (++calls == 1) hbase_.split_region("tsdb", row(6));
    return {};
  };
  const auto loaded = run_task(loader_->load(batch(5)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->files, 4U);
  EXPECT_EQ(loaded->rows_again, 5U);
  EXPECT_EQ(values(), "0505050505050505");
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/files/t"));
}

TEST_F(PointLoaderTest, AFileThatFailsIsWrittenAgain) {
  ASSERT_TRUE(open());
  int failures = 1;
  hook_ = [&failures]() -> Result<void> {
    if (failures-- > 0) return fail(Errc::kUnavailable, "the network is away");
    return {};
  };
  ASSERT_TRUE(run_task(loader_->load(batch(5))));
  EXPECT_EQ(values(), "0505050505050505");
  hook_ = []() -> Result<void> { return fail(Errc::kForbidden, "not for you"); };
  const auto refused = run_task(loader_->load(batch(6)));
  EXPECT_EQ(refused.error().code, Errc::kForbidden);
  EXPECT_EQ(values(), "0505050505050505");
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/files/t"));
}

TEST_F(PointLoaderTest, PointsOutsideTheTableAreRefused) {
  ASSERT_TRUE(open());
  PointBatch points;
  points.add(id(1), kRowTimeEndMs, integer_bits(1), 0);
  points.add(id(1), kHour, integer_bits(2), 0);
  points.add(id(1), -1, integer_bits(3), 0);
  const auto loaded = run_task(loader_->load(points));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->points, 1U);
  std::vector<std::size_t> refused;
  for (const Refusal& one : loaded->refused) refused.push_back(one.index);
  EXPECT_THAT(refused, ElementsAre(0U, 2U));
  EXPECT_EQ(values(), "02-------");
}

}  // namespace
}  // namespace halite::storage
