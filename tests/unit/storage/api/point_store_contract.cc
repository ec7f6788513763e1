#include "tests/unit/storage/api/point_store_contract.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include <prometheus/registry.h>

#include "common/check.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/engine_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unruly_store.h"
#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {
namespace {

using LayoutMaker = std::function<std::pair<std::shared_ptr<const RowLayout>, TableParameters>()>;

class CellsUnderTest final : public PointStoreUnderTest {
 public:
  CellsUnderTest(const StoreKind& kind, const Clock& clock, boost::asio::any_io_executor executor,
                 const LayoutMaker& make_layout, CellPointStoreOptions options)
      : clock_(clock),
        executor_(std::move(executor)),
        layout_(make_layout()),
        options_(std::move(options)),
        lasts_(kind.lasts),
        cells_(kind.make(clock)) {
    open();
  }
  ~CellsUnderTest() override { close(); }

  PointStore& get() override { return *points_; }
  void reopen() override {
    close();
    if (lasts_) cells_->reopen();
    open();
  }
  bool break_writes(bool broken) override {
    unruly_.fail = broken;
    return true;
  }

 private:
  void open() {
    store_.emplace(cells_->store(), options_.data_table, unruly_);
    CellPointStore::Dependencies dependencies{*store_, layout_.first, layout_.second,
                                              clock_,  executor_,     metrics_};
    auto opened = test::run_task(CellPointStore::open(std::move(dependencies), options_));
    HALITE_CHECK(opened, opened.error().message);
    points_ = std::move(*opened);
  }
  void close() {
    const Result<void> closed = test::run_task(points_->close());
    HALITE_CHECK(closed, closed.error().message);
    points_.reset();
  }

  const Clock& clock_;
  const boost::asio::any_io_executor executor_;
  const std::pair<std::shared_ptr<const RowLayout>, TableParameters> layout_;
  const CellPointStoreOptions options_;
  prometheus::Registry metrics_;
  const bool lasts_;
  const std::unique_ptr<StoreHarness> cells_;
  test::Unruly unruly_;
  std::optional<test::UnrulyStore> store_;
  std::unique_ptr<CellPointStore> points_;
};

LayoutMaker opentsdb(std::uint8_t salt_width) {
  return [salt_width] {
    OpentsdbOptions options;
    options.salt_width = salt_width;
    std::shared_ptr<const OpentsdbLayout> layout = OpentsdbLayout::make(options).value();
    return std::pair<std::shared_ptr<const RowLayout>, TableParameters>(layout,
                                                                        layout->parameters());
  };
}

LayoutMaker cyclic(std::int64_t ttl_ms) {
  return [ttl_ms] {
    CyclicOptions options;
    options.salt_buckets = 4;
    options.ttl_ms = ttl_ms;
    options.slots = 787;  // a ring's first slot begins where the tests' points lie: they cross it
    std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make(options).value();
    return std::pair<std::shared_ptr<const RowLayout>, TableParameters>(layout,
                                                                        layout->parameters());
  };
}

PointStoreKind cells_kind(const StoreKind& cells, const std::string& name, LayoutMaker layout,
                          CellPointStoreOptions options) {
  return PointStoreKind{cells.name + name, cells.lasts,
                        [cells, layout = std::move(layout), options](
                            const Clock& clock, boost::asio::any_io_executor executor) {
                          return std::make_unique<CellsUnderTest>(cells, clock, std::move(executor),
                                                                  layout, options);
                        }};
}

// Ways to read that must not make a difference.
CellPointStoreOptions small_batches() {
  CellPointStoreOptions options;
  options.scan.rows_per_batch = 3;
  options.scan.cells_per_batch = 7;
  options.append.in_flight_points_max = 5;
  return options;
}

CellPointStoreOptions never_exact() {
  CellPointStoreOptions options;
  options.scan.exact_series_max = 0;
  return options;
}

// And walks in parts, of two series even.
CellPointStoreOptions shared_tables(CellPointStoreOptions options = {}) {
  options.scan.shared_tables = true;
  options.scan.split = {.splits_max = 60, .split_series_min = 1};
  return options;
}

// Names in memory, points in the engine: on this machine's files, or on some that can be broken.
class EngineUnderTest final : public PointStoreUnderTest {
 public:
  EngineUnderTest(const Clock& clock, const LayoutMaker& make_layout, EngineOptions options,
                  std::shared_ptr<test::FaultyFiles> faulty)
      : clock_(clock),
        layout_(std::dynamic_pointer_cast<const CyclicLayout>(make_layout().first)),
        options_(std::move(options)),
        faulty_(std::move(faulty)),
        names_(clock) {
    options_.dir = dir_.path() + "/engine";
    open();
  }
  ~EngineUnderTest() override { close(); }

  PointStore& get() override { return *points_; }
  void reopen() override {
    close();
    open();
  }
  bool break_writes(bool broken) override {
    if (faulty_ == nullptr) return false;
    if (broken) {
      faulty_->fail_writes(".log", {Errc::kOverloaded, "no space left", {}});
    } else {
      faulty_->heal();
      while (!points_->health()) std::this_thread::yield();  // it tries every full_disk_retry_ms
    }
    return true;
  }

 private:
  void open() {
    const std::shared_ptr<FileSystem> files =
        faulty_ == nullptr ? posix_files() : std::shared_ptr<FileSystem>(faulty_);
    EngineStore::Dependencies dependencies{names_, layout_, clock_, files, metrics_};
    auto opened = test::run_task(EngineStore::open(std::move(dependencies), options_));
    HALITE_CHECK(opened, opened.error().message);
    points_ = std::move(*opened);
  }
  void close() {
    const Result<void> closed = test::run_task(points_->close());
    HALITE_CHECK(closed, closed.error().message);
    points_.reset();
  }

  const test::TempDir dir_;
  const Clock& clock_;
  const std::shared_ptr<const CyclicLayout> layout_;
  EngineOptions options_;
  const std::shared_ptr<test::FaultyFiles> faulty_;  // null: none
  prometheus::Registry metrics_;
  MemoryStore names_;
  std::unique_ptr<EngineStore> points_;
};

EngineOptions small_engine() {
  EngineOptions options;
  options.log.segment_bytes = 32 << 20;
  options.log.commit_interval_ms = 0;
  options.log.full_disk_retry_ms = 1;
  options.read_threads = 2;
  return options;
}

// Freezes, flushes and seals all the time.
EngineOptions restless_engine() {
  EngineOptions options = small_engine();
  options.head_freeze_bytes = 1;
  options.seal_quiet_ms = 0;
  options.maintenance_ms = 1;
  return options;
}

// Every writer waits for a flush that nothing but their waiting asks for.
EngineOptions full_engine() {
  EngineOptions options = small_engine();
  options.head_bytes_max = 1;
  return options;
}

enum class EngineFiles : std::uint8_t { kReal, kFaulty };

PointStoreKind engine_kind(const std::string& name, LayoutMaker layout, EngineOptions options,
                           EngineFiles files) {
  const bool faulty = files == EngineFiles::kFaulty;
  return PointStoreKind{"Engine" + name, !faulty,
                        [layout = std::move(layout), options, faulty](
                            const Clock& clock, boost::asio::any_io_executor) {
                          return std::make_unique<EngineUnderTest>(
                              clock, layout, options,
                              faulty ? std::make_shared<test::FaultyFiles>(1) : nullptr);
                        }};
}

}  // namespace

const std::vector<PointStoreKind>& point_store_kinds() {
  static const std::vector<PointStoreKind> kKinds = [] {
    std::vector<PointStoreKind> all;
    for (const StoreKind& cells : store_kinds()) {
      const auto add = [&all, &cells](const char* name, LayoutMaker layout,
                                      CellPointStoreOptions options) {
        all.push_back(cells_kind(cells, name, std::move(layout), std::move(options)));
      };
      add("OpentsdbSalted", opentsdb(1), {});
      add("Cyclic", cyclic(0), {});
      if (cells.lasts) continue;  // each write is synced: two ways are enough
      add("Opentsdb", opentsdb(0), {});
      add("OpentsdbShared", opentsdb(1), shared_tables());
      add("OpentsdbSmallBatches", opentsdb(0), small_batches());
      add("CyclicRing", cyclic(300 * kDayMs), never_exact());
      add("CyclicSmallBatches", cyclic(0), small_batches());
      add("CyclicSharedSmallBatches", cyclic(0), shared_tables(small_batches()));
    }
    all.push_back(engine_kind("", cyclic(0), small_engine(), EngineFiles::kReal));
    all.push_back(engine_kind("Ring", cyclic(300 * kDayMs), small_engine(), EngineFiles::kReal));
    all.push_back(engine_kind("Faulty", cyclic(0), small_engine(), EngineFiles::kFaulty));
    all.push_back(engine_kind("Full", cyclic(0), full_engine(), EngineFiles::kFaulty));
    all.push_back(engine_kind("Restless", cyclic(0), restless_engine(), EngineFiles::kFaulty));
    return all;
  }();
  return kKinds;
}

SeriesName name_of(const Series& series) {
  SeriesName name;
  name.metric = series.metric;
  for (const SeriesTag& tag : series.tags) {
    name.tags.push_back(Tag{std::string(tag.key), std::string(tag.value)});
  }
  std::ranges::sort(name.tags);
  return name;
}

SeriesName parse_series(const std::string& text) {
  std::istringstream words(text);
  SeriesName name;
  words >> name.metric;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    name.tags.push_back(Tag{word.substr(0, equals), word.substr(equals + 1)});
  }
  std::ranges::sort(name.tags);
  return name;
}

std::vector<SeriesId> PointStoreContract::intern_all(const std::vector<std::string>& names) {
  std::vector<SeriesName> parsed;
  for (const std::string& name : names) parsed.push_back(parse_series(name));
  const auto ids = run(store().intern(std::move(parsed), CreateNames())).value();
  std::vector<SeriesId> good;
  for (const auto& id : ids) good.push_back(id.value());
  return good;
}

void PointStoreContract::put(PointBatch batch) {
  const Result<Accepted> accepted = run(store().append(std::move(batch)));
  ASSERT_TRUE(accepted) << accepted.error().message;
  ASSERT_TRUE(accepted->refused.empty()) << accepted->refused.front().error.message;
  const Result<void> durable = run(accepted->durable.wait());
  ASSERT_TRUE(durable) << durable.error().message;
}

void PointStoreContract::put(SeriesId id, TimestampMs time, double value) {
  PointBatch batch;
  batch.add(id, time, double_bits(value), kFloat | kMillis);
  put(std::move(batch));
}

void PointStoreContract::put_integer(SeriesId id, TimestampMs time, std::int64_t value) {
  PointBatch batch;
  batch.add(id, time, integer_bits(value), kMillis);
  put(std::move(batch));
}

std::shared_ptr<const Selection> PointStoreContract::select(const std::string& metric,
                                                            std::vector<TagFilter> filters,
                                                            bool explicit_tags) {
  SeriesQuery query;
  query.metric = metric;
  query.filters = std::move(filters);
  query.explicit_tags = explicit_tags;
  auto selection = run(store().select(std::move(query), {}));
  HALITE_CHECK(selection, selection.error().message);
  return *selection;
}

Points PointStoreContract::scan(const std::shared_ptr<const Selection>& selection,
                                TimeRange range) {
  Points points;
  for (std::uint32_t shard = 0; shard < store().shard_count(); ++shard) {
    const std::unique_ptr<BlockScan> blocks = store().scan(selection, range, shard);
    std::set<SeriesId> finished_series;
    for (;;) {
      const auto some = run(blocks->next());
      EXPECT_TRUE(some) << some.error().message;
      if (!some || some->empty()) break;
      EXPECT_LE(some->size(), 1024u);
      for (const Block& block : *some) {
        const Series& series = store().series(block.series);
        EXPECT_EQ(series.id, block.series);
        EXPECT_EQ(series.shard, shard);
        EXPECT_LE(block.size(), kBlockPointsMax);
        EXPECT_EQ(block.values.size(), block.size());
        EXPECT_FALSE(finished_series.contains(block.series)) << "a block after the last one";
        if (block.last) finished_series.insert(block.series);
        SeriesPoints& mine = points[name_of(series)];
        for (std::size_t i = 0; i < block.size(); ++i) {
          const TimestampMs time = block.times[i];
          EXPECT_TRUE(time >= range.begin && time < range.end) << time;
          EXPECT_TRUE(mine.empty() || mine.rbegin()->first < time) << "not ascending: " << time;
          mine[time] = StoredPoint{block.values[i], block.floats[i]};
        }
      }
    }
    const auto finished = run(blocks->next());
    EXPECT_TRUE(finished && finished->empty()) << "finished stays finished";
  }
  return points;
}

std::vector<std::string> PointStoreContract::tags_found(
    const std::shared_ptr<const Selection>& selection, TimeRange range) {
  std::vector<std::string> found;
  for (const auto& [name, points] : scan(selection, range)) {
    std::string text;
    for (const Tag& tag : name.tags) {
      text += (text.empty() ? "" : " ") + tag.key + "=" + tag.value;
    }
    found.push_back(text);
  }
  return found;
}

}  // namespace halite::storage
