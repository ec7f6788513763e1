// Points through a Writer into a real store, and back.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "ingest/writer.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "tests/support/run_task.h"

namespace halite::ingest {
namespace {

using test::run_task;
using testing::ElementsAre;

class WriterStore : public testing::Test {
 protected:
  void SetUp() override {
    const std::shared_ptr<const storage::CyclicLayout> layout =
        storage::CyclicLayout::make({}).value();
    storage::CellPointStore::Dependencies dependencies{
        cells_, layout, layout->parameters(), clock_, pool_.get_executor(), registry_};
    auto opened = run_task(storage::CellPointStore::open(std::move(dependencies), {}));
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
    writer_ = std::make_unique<Writer>(*store_, clock_, IngestOptions(), registry_);
  }

  void TearDown() override {
    writer_.reset();
    EXPECT_TRUE(run_task(store_->close()));
    store_.reset();
  }

  // The answers to the lines; their points are durable afterwards.
  std::string put_lines(const std::vector<std::string>& lines) {
    TelnetBatch batch(*writer_);
    std::string replies;
    for (const std::string& line : lines) batch.add(line, replies);
    const auto flushed = run_task(batch.flush(replies));
    EXPECT_TRUE(flushed && run_task(batch.await_durable(*flushed, replies)));
    return replies;
  }

  PutOutcome put_json(std::string body) {
    auto outcome = run_task(writer_->put_json(std::move(body)));
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!outcome) return {};
    return *std::move(outcome);
  }

  // "host=a: 1000=1 2000=2.5" for each series of the metric.
  std::vector<std::string> read(const std::string& metric) {
    storage::SeriesQuery query;
    query.metric = metric;
    const auto selected = run_task(store_->select(std::move(query), {}));
    EXPECT_TRUE(selected) << selected.error().message;
    if (!selected) return {};
    std::map<storage::SeriesId, std::string> points;
    for (std::uint32_t shard = 0; shard < store_->shard_count(); ++shard) {
      const auto scan = store_->scan(*selected, {.begin = 0, .end = 4'000'000'000'000}, shard);
      for (;;) {
        const auto blocks = run_task(scan->next());
        EXPECT_TRUE(blocks);
        if (!blocks || blocks->empty()) break;
        for (const storage::Block& block : *blocks) points[block.series] += text_of(block);
      }
    }
    std::vector<std::string> texts;
    for (const auto& [id, text] : points) {
      std::vector<std::string> tags;
      for (const storage::SeriesTag& tag : store_->series(id).tags) {
        tags.push_back(fmt::format("{}={}", tag.key, tag.value));
      }
      std::ranges::sort(tags);
      texts.push_back(fmt::format("{}:{}", fmt::join(tags, " "), text));
    }
    std::ranges::sort(texts);
    return texts;
  }

  static std::string text_of(const storage::Block& block) {
    std::string text;
    for (std::size_t i = 0; i < block.size(); ++i) {
      text += block.floats[i] ? fmt::format(" {}={:?}", block.times[i],
                                            fmt::format("{}", as_double(block.values[i])))
                              : fmt::format(" {}={}", block.times[i], as_integer(block.values[i]));
    }
    return text;
  }

  FakeClock clock_{1'500'000'000'000};
  prometheus::Registry registry_;
  boost::asio::thread_pool pool_{2};
  storage::MemoryStore cells_{clock_};
  std::unique_ptr<storage::CellPointStore> store_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterStore, LinesComeBack) {
  EXPECT_EQ(put_lines({"put m 1000 1 host=a", "put m 1001 -7 host=a", "put m 1000 0.1 host=b",
                       "put m 1356998400250 9007199254740993 host=b dc=x"}),
            "");
  EXPECT_THAT(read("m"), ElementsAre("dc=x host=b: 1356998400250=9007199254740993",
                                     "host=a: 1000000=1 1001000=-7", "host=b: 1000000=\"0.1\""));
}

TEST_F(WriterStore, LastOfEqualTimesWins) {
  EXPECT_EQ(put_lines({"put m 1356998400 1 host=a", "put m 1356998400 2 host=a",
                       "put m 1356998400.000 3 host=a", "put m 1356998400 +4 host=a"}),
            "");
  EXPECT_THAT(read("m"), ElementsAre("host=a: 1356998400000=4"));
  put_lines({"put m 1356998400 5.5 host=a", "put m 1356998400 6 host=a"});
  EXPECT_THAT(read("m"), ElementsAre("host=a: 1356998400000=6"));
  put_json(R"([{"metric":"m","timestamp":1356998400,"value":7,"tags":{"host":"a"}},
               {"metric":"m","timestamp":1356998400001,"value":8,"tags":{"host":"a"}},
               {"metric":"m","timestamp":1356998400,"value":"9","tags":{"host":"a"}}])");
  EXPECT_THAT(read("m"), ElementsAre("host=a: 1356998400000=9 1356998400001=8"));
}

TEST_F(WriterStore, BothProtocolsMeanTheSameSeries) {
  put_lines({"put température 1000 1 host=zürich", "put temp\xE9rature 1001 2 host=z\xFCrich"});
  put_json(R"({"metric":"temp\u00e9rature","timestamp":1002,"value":3,"tags":{"host":"zürich"}})");
  EXPECT_THAT(read("température"), ElementsAre("host=zürich: 1000000=1 1001000=2 1002000=3"));
}

TEST_F(WriterStore, AgentsAreUnderstood) {
  EXPECT_EQ(put_lines({"put proc.stat.cpu 1356998400 27342 type=user host=h1",
                       "put cpu.idle 1356998400 97.5 fqdn=h1.example.org  host=h1 \r",
                       "put cpu_idle 1356998400 99.849 cpu=cpu-total host=h1 ",
                       "put stats.timers.x.mean 1356998400 1.25 source=statsd  "}),
            "");
  // Telegraf's values are texts, scollector's come many at once.
  EXPECT_EQ(put_json(R"([{"metric":"telegraf","timestamp":1,"value":"1.5","tags":{"host":"a"}},)"
                     R"({"metric":"os.cpu","timestamp":1,"value":3,"tags":{"host":"ny-web01"}}])")
                .success,
            2U);
  EXPECT_THAT(read("cpu.idle"), ElementsAre("fqdn=h1.example.org host=h1: 1356998400000=\"97.5\""));
  EXPECT_THAT(read("telegraf"), ElementsAre("host=a: 1000=\"1.5\""));
}

TEST_F(WriterStore, RefusedPointsLeaveNoTrace) {
  put_lines({"put m 1000 x host=a", "put m 1000 1 host", "put good 1000 1 host=a"});
  const auto names = run_task(store_->suggest(storage::NameKind::kMetric, "", 10));
  ASSERT_TRUE(names);
  EXPECT_THAT(*names, ElementsAre("good"));
}

}  // namespace
}  // namespace halite::ingest
