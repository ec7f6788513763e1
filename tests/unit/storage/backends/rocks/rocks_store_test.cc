// What only a store on a disk promises: locks, damage, limits, expired cells leaving the disk.
#include "storage/backends/rocks/rocks_store.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>
#include <rocksdb/db.h>

#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

namespace fs = std::filesystem;
using test::run_task;
using testing::HasSubstr;

constexpr TimestampMs kClockBegin = 1'700'000'000'000;

class RocksStoreTest : public testing::Test {
 protected:
  RocksStoreTest() { options_.dir = dir_.path() + "/a/b"; }

  Result<void> try_open() {
    store_.reset();
    TRY(store_, RocksStore::open(options_, clock_, registry_));
    TRY(table_, run_task(store_->open_table(spec_)));
    return {};
  }
  void open() {
    const Result<void> opened = try_open();
    ASSERT_TRUE(opened) << opened.error().message;
  }
  void close() {
    table_.reset();
    const Result<void> closed = run_task(store_->close());
    EXPECT_TRUE(closed) << closed.error().message;
    store_.reset();
  }

  Result<void> put(Bytes row, Bytes value, TimestampMs time = 0) {
    std::vector<RowWrite> rows(1);
    rows[0].row = std::move(row);
    rows[0].puts.push_back({{0, "q"}, std::move(value), time});
    return run_task(table_->write(std::move(rows)));
  }
  Result<Bytes> get(Bytes row) {
    TRY(const std::vector<Row> rows, run_task(table_->read({{std::move(row), 0, {"q"}}})));
    if (rows[0].cells.empty()) return fail(Errc::kNotFound, "no such cell");
    return rows[0].cells[0].value;
  }

  std::vector<fs::path> files(const std::string& extension) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(options_.dir)) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }
  // The one log that has something in it.
  fs::path log_file() const {
    std::vector<fs::path> logs = files(".log");
    std::erase_if(logs, [](const fs::path& path) { return fs::file_size(path) == 0; });
    EXPECT_EQ(logs.size(), 1u);
    return logs.empty() ? fs::path() : logs.front();
  }
  static void flip_byte(const fs::path& path, std::size_t at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(file.get() ^ 0x40);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    ASSERT_TRUE(file.good());
  }

  test::TempDir dir_;
  FakeClock clock_{kClockBegin};
  prometheus::Registry registry_;
  RocksOptions options_;
  TableSpec spec_{.name = "points", .families = {{.name = "t"}}, .split_keys = {}};
  std::unique_ptr<RocksStore> store_;
  std::shared_ptr<Table> table_;
};

TEST_F(RocksStoreTest, AFormatIsKept) {
  const auto stored = [this] {
    rocksdb::DB* opened = nullptr;
    EXPECT_TRUE(rocksdb::DB::OpenForReadOnly({}, options_.dir, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    Bytes format;
    EXPECT_TRUE(db->Get({}, "format", &format).ok());
    return format;
  };
  for (const StoreFormat format : {StoreFormat::kFirst, StoreFormat::kViews, StoreFormat::kFirst}) {
    store_ = *RocksStore::open(options_, clock_, registry_);
    ASSERT_TRUE(run_task(store_->set_format(format)));
    close();
    EXPECT_EQ(stored(), fmt::format("halite-cells {}", static_cast<int>(format)));
  }
}

TEST_F(RocksStoreTest, AFormatOfALaterVersionIsRefusedByName) {
  store_ = *RocksStore::open(options_, clock_, registry_);
  close();
  {
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, options_.dir, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    ASSERT_TRUE(db->Put({}, "format", "halite-cells 3").ok());
  }
  const Result<void> refused = try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnsupported);
  EXPECT_EQ(refused.error().message,
            options_.dir +
                " has the format \"halite-cells 3\"; this version of Halite reads "
                "\"halite-cells 1\" and \"halite-cells 2\"");
}

TEST_F(RocksStoreTest, ASecondOpenIsRefused) {
  open();
  const auto second = RocksStore::open(options_, clock_, registry_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kConflict);
  EXPECT_EQ(second.error().message,
            "data directory " + options_.dir + " is in use by another process");
  ASSERT_TRUE(put("row", "still at work"));
  close();
  open();
  EXPECT_EQ(get("row").value(), "still at work");
}

// Takes the lock as another process would; only system calls, for this process has threads.
[[noreturn]] void hold_lock(const char* path, int ready, int leave) {
  struct flock whole_file{};
  whole_file.l_type = F_WRLCK;
  const int file = ::open(path, O_RDWR);
  char byte = fcntl(file, F_SETLK, &whole_file) == 0 ? '1' : '0';
  if (write(ready, &byte, 1) != 1 || read(leave, &byte, 1) != 1) _exit(1);
  _exit(0);
}

TEST_F(RocksStoreTest, AnotherProcessKeepsUsOutUntilItIsGone) {
  open();
  ASSERT_TRUE(put("row", "v"));
  close();
  const std::string lock = options_.dir + "/halite.lock";
  int ready[2];
  int leave[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(leave), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) hold_lock(lock.c_str(), ready[1], leave[0]);
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, '1');
  EXPECT_EQ(try_open().error().code, Errc::kConflict);
  ASSERT_EQ(write(leave[1], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const int end : {ready[0], ready[1], leave[0], leave[1]}) ::close(end);
  open();
  EXPECT_EQ(get("row").value(), "v");
}

TEST_F(RocksStoreTest, DamageInTheMiddleOfTheLogIsRefused) {
  open();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(put("row" + std::to_string(i), Bytes(300, 'v')));
  close();
  const fs::path log = log_file();
  const std::size_t at = fs::file_size(log) / 2;
  flip_byte(log, at);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Result<void> refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kCorruption);
    EXPECT_THAT(refused.error().message, HasSubstr(log.string() + " is damaged at byte "));
  }
  flip_byte(log, at);  // restored from a copy
  open();
  EXPECT_EQ(get("row19").value(), Bytes(300, 'v'));
}

TEST_F(RocksStoreTest, DamageMayBeAcceptedWithItsLoss) {
  open();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(put("row" + std::to_string(i), Bytes(300, 'v')));
  close();
  flip_byte(log_file(), fs::file_size(log_file()) / 2);
  options_.accept_damaged_log = true;
  open();
  EXPECT_EQ(get("row0").value(), Bytes(300, 'v'));
  EXPECT_EQ(get("row19").error().code, Errc::kNotFound);
}

TEST_F(RocksStoreTest, ATornLastWriteIsCutOff) {
  open();
  ASSERT_TRUE(put("first", "1"));
  ASSERT_TRUE(put("last", Bytes(5000, 'v')));
  close();
  fs::resize_file(log_file(), fs::file_size(log_file()) - 1000);
  open();
  EXPECT_EQ(get("first").value(), "1");
  EXPECT_EQ(get("last").error().code, Errc::kNotFound);
  ASSERT_TRUE(put("next", "2"));
  close();
  open();
  EXPECT_EQ(get("next").value(), "2");
}

TEST_F(RocksStoreTest, ALastWriteOfFullLengthButMissingPagesIsCutOff) {
  open();
  ASSERT_TRUE(put("first", "1"));
  ASSERT_TRUE(put("last", Bytes(20'000, 'v')));
  close();
  flip_byte(log_file(), fs::file_size(log_file()) - 10'000);
  open();
  EXPECT_EQ(get("first").value(), "1");
  EXPECT_EQ(get("last").error().code, Errc::kNotFound);
}

TEST_F(RocksStoreTest, DamagedTablesAreNamed) {
  open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(put("row" + std::to_string(i), Bytes(99, 'v')));
  ASSERT_TRUE(run_task(store_->compact()));
  close();
  const std::vector<fs::path> tables = files(".sst");
  ASSERT_FALSE(tables.empty());
  for (const fs::path& table : tables) flip_byte(table, 20);
  const Result<void> opened = try_open();
  const Error error = opened ? get("row1").error() : opened.error();
  EXPECT_EQ(error.code, Errc::kCorruption);
  EXPECT_THAT(error.message, HasSubstr(".sst"));
}

TEST_F(RocksStoreTest, AMissingCurrentIsNotTakenForANewStore) {
  open();
  ASSERT_TRUE(put("row", "v"));
  close();
  fs::rename(options_.dir + "/CURRENT", options_.dir + "/moved");
  const Result<void> refused = try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kCorruption);
  fs::rename(options_.dir + "/moved", options_.dir + "/CURRENT");
  open();
  EXPECT_EQ(get("row").value(), "v");
}

TEST_F(RocksStoreTest, ADirectoryThatCannotBeMadeIsAnError) {
  std::ofstream(dir_.path() + "/file") << "x";
  options_.dir = dir_.path() + "/file/store";
  const auto refused = RocksStore::open(options_, clock_, registry_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/file"));
}

TEST_F(RocksStoreTest, AWriteMayBeAsLargeAsTheLimitAndNotLarger) {
  options_.write_bytes_max = 10'000;
  open();
  std::size_t fits = 10'000;
  while (fits > 0 && !put("row", Bytes(fits, 'v'))) --fits;
  EXPECT_GT(fits, 9'800u);
  EXPECT_EQ(get("row").value(), Bytes(fits, 'v'));
  const Result<void> refused = put("row", Bytes(fits + 1, 'w'));
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
  EXPECT_THAT(refused.error().message,
              HasSubstr("the limit of 10000 bytes (rocksdb.write_bytes_max)"));
  EXPECT_EQ(get("row").value(), Bytes(fits, 'v'));
}

TEST_F(RocksStoreTest, ExpiredCellsLeaveTheDisk) {
  spec_.families[0].ttl_ms = 1000;
  open();
  ASSERT_TRUE(put("stamped", "v"));
  ASSERT_TRUE(put("timed", "v", kClockBegin - 10));
  ASSERT_TRUE(put("timed", "w", kClockBegin - 20));
  clock_.advance(500);
  ASSERT_TRUE(put("young", "v"));
  clock_.advance(500);
  ASSERT_TRUE(run_task(store_->compact()));
  // With the TTL gone, what is still on the disk shows again.
  close();
  spec_.families[0].ttl_ms = 0;
  open();
  EXPECT_FALSE(get("stamped"));
  EXPECT_FALSE(get("timed"));
  EXPECT_EQ(get("young").value(), "v");
}

TEST_F(RocksStoreTest, EstimatesOfFilesAreOffByAFactorAtWorst) {
  open();
  std::vector<RowWrite> rows;
  for (int i = 0; i < 30'000; ++i) {
    rows.push_back(
        {"row" + std::to_string(100'000 + i), {{{0, "q"}, std::to_string(i * 7), 0}}, {}});
  }
  ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  ASSERT_TRUE(run_task(store_->compact()));
  const RangeEstimate all = run_task(table_->estimate(0, {{}})).value();
  EXPECT_GT(all.cells, 10'000U);
  EXPECT_LT(all.cells, 90'000U);
  const RangeEstimate third = run_task(table_->estimate(0, {{"row110000", "row120000"}})).value();
  EXPECT_GT(third.cells, 10'000U / 3);
  EXPECT_LT(third.cells, 10'000U * 3);
}

TEST_F(RocksStoreTest, CompactionKeepsTheRules) {
  open();
  ASSERT_TRUE(put("timed", "newer", 2000));
  ASSERT_TRUE(put("timed", "older", 1000));
  ASSERT_TRUE(put("base", "stamped"));
  ASSERT_TRUE(put("base", "too old", 5));
  ASSERT_TRUE(run_task(store_->compact()));
  ASSERT_TRUE(put("timed", "oldest", 500));
  ASSERT_TRUE(put("base", "also too old", 6));
  EXPECT_EQ(get("timed").value(), "newer");
  EXPECT_EQ(get("base").value(), "stamped");
  ASSERT_TRUE(run_task(store_->compact()));
  EXPECT_EQ(get("timed").value(), "newer");
  EXPECT_EQ(get("base").value(), "stamped");
}

TEST_F(RocksStoreTest, ScansThatOutliveTheStoreAreToldSo) {
  open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(put("row" + std::to_string(i), "v"));
  const auto scanner = table_->scan({}, {});
  ASSERT_TRUE(run_task(scanner->next({.rows_max = 3})));
  const std::shared_ptr<Table> table = table_;
  close();
  EXPECT_EQ(run_task(scanner->next({})).error().code, Errc::kUnavailable);
  EXPECT_EQ(run_task(table->scan({}, {})->next({})).error().code, Errc::kUnavailable);
  EXPECT_EQ(run_task(table->read({{"row1", 0, {}}})).error().code, Errc::kUnavailable);
  EXPECT_EQ(run_task(table->increment("row1", {0, "n"}, 1)).error().code, Errc::kUnavailable);
  std::vector<RowWrite> rows(1);
  rows[0].row = "row";
  rows[0].puts.push_back({{0, "q"}, "v", 0});
  EXPECT_EQ(run_task(table->write(std::move(rows))).error().code, Errc::kUnavailable);
  open();
  EXPECT_EQ(get("row9").value(), "v");
}

TEST_F(RocksStoreTest, ClosingTwiceAndNotAtAll) {
  open();
  ASSERT_TRUE(put("row", "v"));
  table_.reset();
  EXPECT_TRUE(run_task(store_->close()));
  EXPECT_TRUE(run_task(store_->close()));
  store_.reset();
  open();
  EXPECT_EQ(get("row").value(), "v");
  table_.reset();
  store_.reset();  // without close()
  open();
  EXPECT_EQ(get("row").value(), "v");
}

// More keys than one turn looks at, between the first row and the last.
TEST_F(RocksStoreTest, ALongScanOfUnwantedRowsIsDoneInTurns) {
  open();
  constexpr int kRows = 100'000;
  std::vector<RowWrite> rows;
  for (int i = 0; i < kRows; ++i) {
    const bool wanted = i == 0 || i == kRows - 1;
    RowWrite write;
    write.row = std::to_string(1'000'000 + i);
    write.puts.push_back({{0, "q"}, wanted ? "wanted" : "", wanted ? 2 : 1});
    rows.push_back(std::move(write));
  }
  ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  for (const bool reverse : {false, true}) {
    ScanSpec spec;
    spec.time_begin = 2;
    spec.reverse = reverse;
    const auto scanner = table_->scan(spec, {});
    const auto batch = run_task(scanner->next({.rows_max = 1}));
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->size(), 1u);
    const auto next = run_task(scanner->next({}));
    ASSERT_TRUE(next);
    ASSERT_EQ(next->size(), 1u);
    EXPECT_EQ(next->front().key, std::to_string(1'000'000 + (reverse ? 0 : kRows - 1)));
    EXPECT_EQ(run_task(scanner->next({})).value().size(), 0u);
  }
}

TEST_F(RocksStoreTest, SumsAreExactThoughFewCellsAreKeptInMemory) {
  options_.recent_cells_bytes_max = 1;
  ASSERT_NO_FATAL_FAILURE(open());
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<CounterAdd> adds;
    for (int i = 0; i < 200; ++i) {
      adds.push_back({.row = std::to_string(i % 100), .deltas = {{{0, "q"}, i}}, .once = {}});
    }
    ASSERT_TRUE(run_task(table_->add(std::move(adds))));
  }
  for (int i = 0; i < 100; ++i) {
    Bytes sum;
    append_be(sum, static_cast<std::uint64_t>(kRounds * (2 * i + 100)));
    EXPECT_EQ(get(std::to_string(i)).value(), sum);
  }
  close();
}

}  // namespace
}  // namespace halite::storage
