// The whole daemon in one process, on a port of its own: web, ingest and query over tables in
// memory. Time stands still until the test moves it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/clock.h"
#include "ingest/writer.h"
#include "query/limits.h"
#include "storage/meta/metadata.h"
#include "tests/support/unruly_store.h"
#include "web/options.h"

namespace halite {
class TraceSink;
}
namespace halite::web {
struct WebServices;
}

namespace halite::test {

struct TestServerOptions {
  TimestampMs now_ms = 1'356'998'400'000;  // 2013-01-01T00:00:00Z
  std::uint32_t threads = 2;
  bool skip_unknown_values = false;
  std::string rollups;                // their configuration as JSON; empty = off
  std::string histograms;             // likewise
  std::string counters;               // rules as JSON; empty = none
  std::string not_ready;              // what /-/ready says; empty = ready
  TraceSink* traces = nullptr;        // outlives the server; null: tracing is off
  std::function<void()> drop_caches;  // what dropcaches does; empty = nothing
  web::WebOptions web;                // the port is chosen by the system
  ingest::IngestOptions ingest;
  query::QueryLimits query;
  storage::MetadataOptions metadata;
  std::string unruly_table = "tsdb";  // see TestServer::tables()
};

class TestServer {
 public:
  explicit TestServer(TestServerOptions options = {});
  ~TestServer();  // stops
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  void stop();  // the web server; the rest lives on until the end
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::uint16_t graphite_port() const;  // 0: off
  [[nodiscard]] std::uint16_t graphite_pickle_port() const;
  [[nodiscard]] FakeClock& clock();
  [[nodiscard]] storage::PointStore& store();
  [[nodiscard]] const web::WebServices& services() const;  // what its handlers work with

  [[nodiscard]] Unruly& tables();  // what goes wrong in one table

  // The value of a counter or gauge: over all its labels, or of those with this label.
  [[nodiscard]] double metric(const std::string& name, const std::string& label = {},
                              const std::string& value = {}) const;

 private:
  struct Components;
  std::unique_ptr<Components> components_;
};

}  // namespace halite::test
