// A point store in memory with a query engine on it, for tests that put points and ask questions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/thread_pool.hpp>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "query/answer.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/parse/parse_context.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/cells/cell_point_store.h"

namespace halite::test {

enum class QueryLayout : std::uint8_t {
  kOpentsdb,        // one shard
  kOpentsdbSalted,  // 20 shards
  kCyclic,          // 4 shards
};

// Not for use by several threads. A failure of the store itself stops the test program.
class QueryWorld {
 public:
  static constexpr TimestampMs kNow = 1'400'000'000'000;

  explicit QueryWorld(QueryLayout layout, query::QueryLimits limits = {},
                      bool skip_unknown_values = false);
  ~QueryWorld();
  QueryWorld(const QueryWorld&) = delete;
  QueryWorld& operator=(const QueryWorld&) = delete;

  // A point of "metric key=value ..."; visible once an ask() follows.
  void put(std::string_view series, TimestampMs time, ValueBits value, bool is_float);

  [[nodiscard]] Result<query::Answer> ask_uri(const query::Parameters& parameters);
  [[nodiscard]] Result<query::Answer> ask_json(std::string_view body,
                                               const query::Parameters& parameters = {});
  [[nodiscard]] Result<query::Answer> ask(query::Question question, std::stop_token stop = {});
  [[nodiscard]] Result<std::shared_ptr<const query::PromqlAnswer>> ask_promql(
      query::PromqlQuestion question);

  [[nodiscard]] query::QueryEngine& engine() { return *engine_; }
  [[nodiscard]] storage::PointStore& store() { return *points_; }
  [[nodiscard]] FakeClock& clock() { return clock_; }
  [[nodiscard]] query::ParseContext context() const;

 private:
  void flush();

  FakeClock clock_{kNow};
  prometheus::Registry metrics_;
  boost::asio::thread_pool pool_{4};
  storage::MemoryStore cells_{clock_};
  std::unique_ptr<storage::CellPointStore> points_;
  std::unique_ptr<query::QueryEngine> engine_;
  std::string last_series_;
  storage::SeriesId last_id_ = 0;
  storage::PointBatch batch_;
};

}  // namespace halite::test
