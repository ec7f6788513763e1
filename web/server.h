// The server: one port for HTTP and telnet, distinguished by the first byte; ports of their own for
// Graphite.
//
//   WebServer server(options, services, io.get_executor());
//   TRY_VOID(server.start());     listens; sessions run on the executor's threads
//   server.stop();                refuses new connections, drains, closes all
//
//   Threads  any number of threads run the executor's context. Call start() and stop() from one
//            thread that is not among them: stop() waits.
//   Owner    the server owns every session; after stop() none is left.
//
// Over 140 lines because it declares the options of the server beside the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/clock.h"
#include "common/memory_budget.h"
#include "common/result.h"
#include "common/threads/task.h"
#include "web/options.h"

namespace prometheus {
class Registry;
}
namespace halite {
class TraceSink;  // common/tracing/trace.h
}
namespace halite::ingest {
class HistogramWriter;
class RollupWriter;
class Writer;
}  // namespace halite::ingest
namespace halite::query {
class QueryEngine;
}
namespace halite::storage {
class Metadata;
class PointStore;
class CardinalityCounter;
class SharedViews;
class ViewStore;
struct RetentionStatus;
struct TableRegions;
}  // namespace halite::storage

namespace halite::web {

// The content of `version` and /api/version. All text, as in OpenTSDB.
struct VersionInfo {
  std::string version = "unknown";
  std::string short_revision = "unknown";
  std::string full_revision = "unknown";
  std::string repo_status = "MINT";  // or MODIFIED
  std::int64_t built_s = 0;          // seconds since 1970
  std::string user = "halite";
  std::string host = "localhost";
  std::string repo = "halite";
  std::string branch = "main";
};

struct LogLine {
  std::int64_t time_s = 0;
  std::string level;  // "DEBUG", "INFO", "WARN", "ERROR"
  std::string thread;
  std::string logger;
  std::string message;
};

// A long operation at /api/admin/<name>.
struct AdminJob {
  std::function<Result<void>()> start;  // does not wait; kConflict: already running
  std::function<std::string()> state;   // a JSON object: progress or result
};

// The objects that handlers use. All references outlive the server.
struct WebServices {
  ingest::Writer& writer;
  ingest::Writer& increments;  // of counters
  ingest::RollupWriter& rollups;
  ingest::HistogramWriter* histograms = nullptr;  // null = histograms are off
  query::QueryEngine& engine;
  storage::PointStore& store;
  storage::Metadata& metadata;
  const Clock& clock;
  prometheus::Registry& registry;
  VersionInfo version;
  std::string store_name;                                      // "engine", "rocksdb", ..
  TimestampMs started_ms = 0;                                  // when the process began to serve
  storage::CardinalityCounter* cardinality_counter = nullptr;  // null = series are not counted
  // The slots in use. Called from any thread. Empty if points are not kept in slots.
  std::function<std::vector<storage::RetentionStatus>()> slots = {};
  // The regions of the tables on an HBase cluster. Called from any thread. Empty without a cluster.
  std::function<Task<storage::TableRegions>()> regions = {};
  storage::ViewStore* views = nullptr;  // null: not available
  storage::SharedViews* shared_views =
      nullptr;                  // null: other processes write no points, or no views
  TraceSink* traces = nullptr;  // null: tracing is off
  // By name. Called from any thread.
  std::map<std::string, AdminJob, std::less<>> jobs = {};
  // The settings for /api/config. Called from any thread.
  std::function<std::map<std::string, std::string>()> config;
  // Drops what the store can read again (dropcaches). Called from any thread. Empty if it caches
  // nothing.
  std::function<void()> drop_caches;
  // The last lines of the log, newest first, for /logs. Called from any thread. May be empty.
  std::function<std::vector<LogLine>()> log_lines;
  // Sets the log level ("DEBUG" to "ERROR", "OFF") of all loggers or of the named one. Returns how
  // many it set. kInvalidArgument: no such level. Called from any thread. May be empty.
  std::function<Result<int>(std::string_view level, std::string_view logger)> set_log_level;
  // Why the process is not ready for work (/-/ready); an empty text means ready. If the function is
  // empty, the process is always ready.
  std::function<std::string()> not_ready;
};

// Checks whether a server could listen now: its address, its access settings and their files. Keeps
// nothing. Errors of start().
[[nodiscard]] Result<void> check_listen(const WebOptions& options,
                                        const boost::asio::any_io_executor& executor);

class StartupListener;

class WebServer {
 public:
  // Each executor in `event_loops` runs on one thread. A connection stays on one of them.
  WebServer(WebOptions options, WebServices services, boost::asio::any_io_executor executor,
            std::vector<boost::asio::any_io_executor> event_loops = {});
  ~WebServer();  // stops
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // kInvalidArgument: not an address. kUnavailable: it cannot be listened on. With `before`, it
  // takes over that listener's socket: the port stays open and clients wait meanwhile.
  [[nodiscard]] Result<void> start(StartupListener* before = nullptr);

  // Returns when the last session has ended: at once if none works, else within stop_timeout_ms
  // plus the time that the store needs for points already read. That time may be unlimited;
  // connections() then counts the sessions that wait. May be repeated.
  void stop();

  [[nodiscard]] std::uint16_t port() const;  // after start()
  // Those of Graphite; 0: off.
  [[nodiscard]] std::uint16_t graphite_port() const;
  [[nodiscard]] std::uint16_t graphite_pickle_port() const;
  [[nodiscard]] std::size_t connections() const;  // currently open; call from any thread
  [[nodiscard]] MemoryUser memory_user() const;   // bodies of requests

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::web
