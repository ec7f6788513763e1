// Bulk loads into a real HBase: files of each kind, order against other cells, regions that are
// split meanwhile. The cells are read back by scans and gets, which use the bloom filter.
#include <map>
#include <set>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/backends/hbase/bulk_load/bulk_load.h"
#include "storage/backends/hbase/hfile/hfile_writer.h"
#include "storage/backends/hbase/point_load/point_loader.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/files/files.h"
#include "storage/files/posix_files.h"
#include "tests/hbase/test_cluster.h"
#include "tests/support/hooked_load_directory.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

namespace asio = boost::asio;
using test::run_task;
using testing::HasSubstr;

constexpr TimestampMs kHour = 1'356'998'400'000;
constexpr std::int64_t kHourMs = 3'600'000;
constexpr TimeRange kAlways{0, std::numeric_limits<TimestampMs>::max()};

// HbaseTool of the cluster; an error is in the text behind a zero.
std::string hbase_tool(const std::string& line) {
  const char* const port = std::getenv("HALITE_TEST_HBASE_TOOL");  // NOLINT(concurrency-mt-unsafe)
  HALITE_CHECK(port != nullptr, "HALITE_TEST_HBASE_TOOL is not set: run this by ./dev test-hbase");
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  socket.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::stoul(port))});
  asio::write(socket, asio::buffer(line + "\n"));
  std::string answer;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  EXPECT_THAT(answer, HasSubstr(std::string("\0000", 2))) << line;  // status 0
  return answer;
}

class HBaseBulkLoadTest : public testing::Test {
 protected:
  void TearDown() override {
    if (points_ != nullptr) EXPECT_TRUE(run_task(points_->close()));
    points_.reset();
    background_.join();
    EXPECT_TRUE(run_task(store_->close()));
  }

  void open_points(std::shared_ptr<const RowLayout> layout, const TableParameters& parameters,
                   std::vector<Bytes> split_keys, std::int64_t ttl_ms = 0) {
    layout_ = std::move(layout);
    options_.split_keys = std::move(split_keys);
    options_.cell_ttl_ms = ttl_ms;
    options_.scan.shared_tables = true;
    auto opened = run_task(CellPointStore::open(
        {*store_, layout_, parameters, clock_, background_.get_executor(), registry_}, options_));
    ASSERT_TRUE(opened) << opened.error().message;
    points_ = *std::move(opened);
  }
  // Four regions of a salted table.
  void open_opentsdb() {
    const std::shared_ptr<const OpentsdbLayout> layout =
        OpentsdbLayout::make({.widths = {}, .salt_width = 1, .salt_buckets = 8}).value();
    open_points(layout, layout->parameters(), {"\x02", "\x04", "\x06"});
  }

  Result<std::unique_ptr<PointLoader>> loader(PointLoaderOptions options = {}) {
    auto files = hbase::open_load_directory("file://" + dir_.path() + "/files", *files_, {});
    auto directory = std::make_shared<test::HookedLoadDirectory>(std::move(files).value(), hook_);
    options.load.pause_ms = 50;
    PointLoader::Dependencies dependencies{
        .client = store_->client(),
        .cells = run_task(store_->open_table(data_table_spec(options_))).value(),
        .table = store_->whole_name("tsdb"),
        .family = "t",
        .expires = options_.cell_ttl_ms != 0,
        .layout = layout_,
        .series = points_->registry().table(),
        .clock = clock_,
        .directory = std::move(directory)};
    return run_task(PointLoader::open(std::move(dependencies), options));
  }

  SeriesId series(int host) {
    const SeriesName name{"m", {{"host", std::to_string(host)}}};
    return run_task(points_->intern({name}, CreateNames())).value().at(0).value();
  }

  // `hosts` series with a point every `step_ms` of some hours.
  PointBatch batch(int hosts, int hours, std::int64_t step_ms, double factor) {
    PointBatch made;
    for (int host = 0; host < hosts; ++host) {
      const SeriesId id = series(host);
      for (std::int64_t at = 0; at < hours * kHourMs; at += step_ms) {
        const bool number = host % 2 == 0;
        const double value = factor * static_cast<double>(at / step_ms + host);
        made.add(
            id, kHour + at,
            number ? integer_bits(static_cast<std::int64_t>(value)) : double_bits(value + 0.25),
            number ? 0 : kFloat);
      }
    }
    return made;
  }

  using Points = std::map<std::pair<int, TimestampMs>, std::pair<ValueBits, bool>>;
  static void add(Points& to, const PointBatch& batch, int per_host) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      to[{static_cast<int>(i) / per_host, batch.times[i]}] = {batch.values[i],
                                                              (batch.flags[i] & kFloat) != 0};
    }
  }

  // What a query would read.
  Points read() {
    Points found;
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points_->select(query, {})).value();
    for (std::uint32_t shard = 0; shard < points_->shard_count(); ++shard) {
      const auto scan = points_->scan(selection, kAlways, shard);
      for (;;) {
        const std::vector<Block> blocks = run_task(scan->next()).value();
        if (blocks.empty()) break;
        for (const Block& block : blocks) {
          const std::string host(points_->series(block.series).tags.begin()->value);
          for (std::size_t i = 0; i < block.times.size(); ++i) {
            found[{std::stoi(host), block.times[i]}] = {block.values[i], block.floats.test(i)};
          }
        }
      }
    }
    return found;
  }

  void expect_no_files() {
    const auto left = files_->list(dir_.path() + "/files/t");
    EXPECT_TRUE(left.value().empty());
  }

  test::TempDir dir_;
  test::HookedLoadDirectory::Hook hook_;
  const std::shared_ptr<FileSystem> files_ = posix_files();
  SystemClock clock_;
  prometheus::Registry registry_;
  asio::thread_pool background_{2};
  CellPointStoreOptions options_;
  const std::unique_ptr<HBaseStore> store_ =
      std::make_unique<HBaseStore>(test::store_on_cluster(), clock_, registry_);
  std::shared_ptr<const RowLayout> layout_;
  std::unique_ptr<CellPointStore> points_;
};

Task<std::vector<Row>> read_rows(std::shared_ptr<Table> table, std::vector<RowRead> reads) {
  co_return co_await table->read(std::move(reads));
}

// All codecs, and indexes of one to many levels.
TEST_F(HBaseBulkLoadTest, HBaseReadsFilesOfEachKind) {
  const auto table =
      run_task(store_->open_table({.name = "files", .families = {{.name = "t"}}, .split_keys = {}}))
          .value();
  const auto directory = hbase::open_load_directory("file://" + dir_.path(), *files_, {}).value();
  ASSERT_TRUE(run_task(directory->make("t")));
  const auto row_of = [](int file, int i) { return fmt::format("{}\xFF{:06}\x80", file, 2 * i); };
  constexpr int kRows = 20'000;
  std::vector<hbase::FileToLoad> loads;
  int file = 0;
  for (const auto compression : {hbase::HFileCompression::kNone, hbase::HFileCompression::kGz,
                                 hbase::HFileCompression::kZstd}) {
    for (const std::size_t index_bytes : {128 << 10, 4096, 200}) {
      hbase::HFileWriter writer({.compression = compression,
                                 .bloom = index_bytes != 4096,
                                 .created_ms = clock_.now_ms(),
                                 .block_bytes = 1024,
                                 .index_bytes = index_bytes});
      for (int i = 0; i < kRows; ++i) {
        const Bytes row = row_of(file, i);
        ASSERT_TRUE(writer.add({.row = row,
                                .family = "t",
                                .qualifier = "q",
                                .time = 1000 + i,
                                .value = "value of " + row}));
      }
      ASSERT_TRUE(writer.finish());
      const std::string path = directory->path_of("t", std::to_string(file));
      const auto out = run_task(directory->create(path)).value();
      ASSERT_TRUE(run_task(out->write(writer.take())));
      ASSERT_TRUE(run_task(out->finish()));
      loads.push_back({path, row_of(file, 0), row_of(file, kRows - 1)});
      ++file;
    }
  }
  const auto loaded = run_task(
      hbase::load_files(store_->client(), *directory,
                        {.table = store_->whole_name("files"), .family = "t", .files = loads}));
  ASSERT_TRUE(loaded) << loaded.error().message;
  ScanSpec everything;
  everything.ranges = {{"", ""}};
  const auto scanner = table->scan(everything, {});
  int rows = 0;
  for (;;) {
    const std::vector<Row> batch = run_task(scanner->next({})).value();
    if (batch.empty()) break;
    for (const Row& row : batch) {
      ASSERT_EQ(row.key, row_of(rows / kRows, rows % kRows));
      ASSERT_EQ(row.cells.at(0).value, "value of " + row.key);
      ASSERT_EQ(row.cells.at(0).time, 1000 + rows % kRows);
      ++rows;
    }
  }
  EXPECT_EQ(rows, file * kRows);
  // Gets use the bloom filters and the index.
  for (int i = 0; i < file; ++i) {
    std::vector<RowRead> reads;
    for (int at = 0; at < kRows; at += 97) {
      reads.push_back({row_of(i, at), 0, {}});
      reads.push_back({row_of(i, at) + "x", 0, {}});
    }
    const std::vector<Row> found = run_task(read_rows(table, reads)).value();
    for (std::size_t at = 0; at < found.size(); ++at) {
      ASSERT_EQ(found[at].cells.size(), at % 2 == 0 ? 1U : 0U) << i << " " << at;
    }
  }
  // HBase finds the middle of such files, and splits there.
  hbase_tool("major\t" + store_->whole_name("files"));
  hbase_tool("split\t" + store_->whole_name("files") + "\t" + to_hex(row_of(4, 0)));
  EXPECT_EQ(run_task(store_->client().region_ranges(store_->whole_name("files"))).value().size(),
            2U);
}

TEST_F(HBaseBulkLoadTest, PointsOfSeveralRegionsAreReadBack) {
  open_opentsdb();
  Points written;
  PointBatch points = batch(16, 3, 10'000, 1);
  add(written, points, 3 * 360);
  // In any order; of two equal points the last one stays.
  std::ranges::reverse(points.series);
  std::ranges::reverse(points.times);
  std::ranges::reverse(points.values);
  std::ranges::reverse(points.flags);
  points.add(series(0), kHour, integer_bits(-7), 0);
  written[{0, kHour}] = {integer_bits(-7), false};
  points.add(series(1), -1, integer_bits(0), 0);  // no row can hold it
  const std::size_t all = points.size();
  const auto load = loader().value();
  const auto loaded = run_task(load->load(std::move(points)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->points, all - 2);
  EXPECT_EQ(loaded->rows, 16U * 3);
  EXPECT_EQ(loaded->files, 4U);
  ASSERT_EQ(loaded->refused.size(), 1U);
  EXPECT_EQ(loaded->refused.at(0).index, all - 1);
  EXPECT_EQ(read(), written);
  EXPECT_EQ(run_task(load->load({})).value().files, 0U);
  expect_no_files();
}

TEST_F(HBaseBulkLoadTest, LaterPointsWinAndGapsAreFilled) {
  open_opentsdb();
  const auto put = [this](PointBatch points) {
    const Accepted accepted = run_task(points_->append(std::move(points))).value();
    ASSERT_TRUE(run_task(accepted.durable.wait()));
  };
  Points written;
  put(batch(4, 1, 60'000, 1));
  add(written, batch(4, 1, 60'000, 1), 60);
  ASSERT_EQ(read(), written);
  // Over single cells.
  const auto load = loader().value();
  ASSERT_TRUE(run_task(load->load(batch(4, 1, 30'000, 2))));
  add(written, batch(4, 1, 30'000, 2), 120);
  EXPECT_EQ(read(), written);
  // Over a compacted column, with the same times and with others.
  for (const std::int64_t step : {30'000, 20'000}) {
    ASSERT_TRUE(run_task(load->load(batch(4, 1, step, 3))));
    add(written, batch(4, 1, step, 3), static_cast<int>(kHourMs / step));
    EXPECT_EQ(read(), written);
  }
  // A later put wins over a load.
  put(batch(4, 1, 60'000, 4));
  add(written, batch(4, 1, 60'000, 4), 60);
  EXPECT_EQ(read(), written);
  // Only what is not there.
  const auto gaps = loader({.fill_gaps = true}).value();
  const PointBatch more = batch(4, 2, 15'000, 5);
  Points all;
  add(all, more, 480);
  ASSERT_TRUE(run_task(gaps->load(more)));
  written.insert(all.begin(), all.end());
  EXPECT_EQ(read(), written);
  expect_no_files();
}

TEST_F(HBaseBulkLoadTest, ARegionThatIsSplitMeanwhileGetsItsRows) {
  open_opentsdb();
  const std::string table = store_->whole_name("tsdb");
  const PointBatch points = batch(32, 2, 60'000, 1);
  Points written;
  add(written, points, 120);
  hook_ = [table, split = false]() mutable -> Result<void> {
    if (!std::exchange(split, true)) hbase_tool("split\t" + table + "\t05");
    return {};
  };
  const auto load = loader().value();
  const auto loaded = run_task(load->load(points));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_GT(loaded->rows_again, 0U);
  EXPECT_EQ(loaded->files, 6U);
  EXPECT_EQ(run_task(store_->client().region_ranges(table)).value().size(), 5U);
  EXPECT_EQ(read(), written);
  expect_no_files();
}

TEST_F(HBaseBulkLoadTest, MillisecondsAndManyPointsOfAnHour) {
  open_opentsdb();
  PointBatch points;
  Points written;
  const SeriesId id = series(7);
  for (std::int64_t at = 0; at < 9000; ++at) {
    const TimestampMs time = kHour + at * 400;
    points.add(id, time, double_bits(static_cast<double>(at) / 7), kFloat | kWide);
    written[{7, time}] = {points.values.back(), true};
  }
  const auto loaded = run_task(loader().value()->load(std::move(points)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->rows, 1U);
  EXPECT_EQ(read(), written);
}

// A ring of slots: each point is a cell; with a TTL, gaps cannot be filled.
TEST_F(HBaseBulkLoadTest, ACyclicTableIsLoaded) {
  CyclicOptions ring;
  ring.salt_buckets = 2;
  ring.slots = 64;
  ring.ttl_ms = 40 * kDayMs;
  const std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make(ring).value();
  open_points(layout, layout->parameters(), {"\x01"}, ring.ttl_ms);
  PointBatch points;
  Points written;
  const TimestampMs now = clock_.now_ms();
  for (int host = 0; host < 8; ++host) {
    const SeriesId id = series(host);
    for (int i = 0; i < 500; ++i) {
      const TimestampMs time = now - i * std::int64_t{7'000'000} / 2;
      points.add(id, time, integer_bits(i), 0);
      if (time > now - ring.ttl_ms) written[{host, time}] = {integer_bits(i), false};
    }
  }
  points.add(series(0), now - ring.ttl_ms - kDayMs, integer_bits(1), 0);
  const auto loaded = run_task(loader().value()->load(std::move(points)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->points, written.size());
  EXPECT_FALSE(loaded->refused.empty());
  EXPECT_EQ(loaded->files, 2U);
  EXPECT_EQ(read(), written);
  const auto refused = loader({.fill_gaps = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("TTL"));
}

}  // namespace
}  // namespace halite::storage
