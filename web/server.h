// Halite's door: one port for HTTP and telnet, told apart by the first byte.
//
//   WebServer server(options, services, io.get_executor());
//   TRY_VOID(server.start());     listens; sessions run on the executor's threads
//   server.stop();                no new connections; what runs may finish; all are closed
//
//   Threads  the executor's context is run by any number of threads. start() and stop() are for
//            one thread that runs none of them: stop() waits.
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
#include "common/result.h"
#include "common/task.h"
#include "web/options.h"

namespace prometheus {
class Registry;
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
struct RetentionStatus;
struct TableRegions;
}  // namespace halite::storage

namespace halite::web {

// What `version` and /api/version say. All text, as OpenTSDB has it.
struct VersionInfo {
  std::string version = "0.1.0";
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

// Work that takes long, at /api/admin/<name>.
struct AdminJob {
  std::function<Result<void>()> start;  // does not wait; kConflict: it is under way
  std::function<std::string()> state;   // a JSON object: how far it is, or how it ended
};

// What the handlers work with. All that is referred to outlives the server.
struct WebServices {
  ingest::Writer& writer;
  ingest::RollupWriter& rollups;
  ingest::HistogramWriter* histograms = nullptr;  // null: histograms are off
  query::QueryEngine& engine;
  storage::PointStore& store;
  storage::Metadata& metadata;
  const Clock& clock;
  prometheus::Registry& registry;
  VersionInfo version;
  std::string store_name;                                      // "engine", "rocksdb", ..
  TimestampMs started_ms = 0;                                  // when the process began to serve
  storage::CardinalityCounter* cardinality_counter = nullptr;  // null: series are not counted
  // What is in slots of time. Called from any thread; may be empty: points are kept otherwise.
  std::function<std::vector<storage::RetentionStatus>()> slots = {};
  // Where the points lie on a cluster of HBase. Called from any thread; may be empty: on none.
  std::function<Task<storage::TableRegions>()> regions = {};
  // By name. Called from any thread.
  std::map<std::string, AdminJob, std::less<>> jobs = {};
  // Settings as /api/config shows them. Called from any thread.
  std::function<std::map<std::string, std::string>()> config;
  // Forgets what the store may read again (dropcaches). Called from any thread; may be empty: it
  // keeps nothing.
  std::function<void()> drop_caches;
  // The last lines of the log, the newest first, for /logs. Called from any thread; may be empty.
  std::function<std::vector<LogLine>()> log_lines;
  // Logs messages from this level on ("DEBUG" to "ERROR", "OFF"), in all parts or in the one of
  // this name: in how many. kInvalidArgument: no such level. Called from any thread; may be empty.
  std::function<Result<int>(std::string_view level, std::string_view logger)> set_log_level;
  // Why the process should get no work yet (/-/ready); an empty text means it is ready. May be
  // empty: always ready.
  std::function<std::string()> not_ready;
};

// Whether a server could listen just now: its address, who may come in, and the files that say so;
// takes nothing. Errors as start().
[[nodiscard]] Result<void> check_listen(const WebOptions& options,
                                        const boost::asio::any_io_executor& executor);

class StartupListener;

class WebServer {
 public:
  // With `event_loops`, executors that one thread each runs, a connection lives on one of them from
  // its first byte to its last.
  WebServer(WebOptions options, WebServices services, boost::asio::any_io_executor executor,
            std::vector<boost::asio::any_io_executor> event_loops = {});
  ~WebServer();  // stops
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // kInvalidArgument: not an address. kUnavailable: it cannot be listened on. With `before` it
  // listens where that did; in between the port is not closed, and who knocks waits.
  [[nodiscard]] Result<void> start(StartupListener* before = nullptr);

  // Returns when the last session is gone: at once, if none works; otherwise within
  // stop_timeout_ms and the time that the store needs for points already read, which may have no
  // end: connections() are those that still wait. May be repeated.
  void stop();

  [[nodiscard]] std::uint16_t port() const;       // after start()
  [[nodiscard]] std::size_t connections() const;  // open just now; any thread

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::web
