// Running and recent queries, for /api/stats/query and /api/server/queries, and their cancellation.
//
//   QueryLog::RunningQuery entry = log.begin(question, request, clock, stop, trace);
//   ... entry.context() ...              its stop token is set by `stop` and by cancel()
//   entry.finish(200, "", cost);         a destroyed entry that did not finish counts as a 500
//
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "common/clock.h"
#include "query/answer.h"
#include "query/engine/promql.h"
#include "query/run_context.h"
#include "web/http/http_message.h"

namespace halite::web {

class RequestTrace;  // web/request_trace.h

class QueryLog {
 public:
  static constexpr std::size_t kCompletedMax = 256;

  // A running query. Move-only; the log outlives it.
  class RunningQuery {
   public:
    RunningQuery(QueryLog& log, std::uint64_t id, const Clock& clock, std::stop_source source,
                 std::stop_token outer, std::shared_ptr<RequestTrace> trace);
    RunningQuery(RunningQuery&& other) noexcept;
    RunningQuery& operator=(RunningQuery&&) = delete;
    ~RunningQuery();
    void finish(int status, std::string exception, const query::QueryCost& cost);
    [[nodiscard]] std::stop_token stop() const { return source_.get_token(); }
    [[nodiscard]] query::RunContext context() const;

   private:
    struct Ask {
      std::stop_source source;
      void operator()() { source.request_stop(); }
    };
    std::stop_source source_;
    std::unique_ptr<std::stop_callback<Ask>> passed_on_;
    QueryLog* log_;  // nullptr: finished or moved from
    std::uint64_t id_;
    const Clock& clock_;
    std::shared_ptr<RequestTrace> trace_;  // may be null
  };

  // `request` is the one with the query: its sender and headers are shown, with secrets masked.
  // The trace, if any, gets the text and the cost of the query; its spans are shown.
  [[nodiscard]] RunningQuery begin(const query::Question& question, const Request& request,
                                   const Clock& clock, std::stop_token stop = {},
                                   std::shared_ptr<RequestTrace> trace = nullptr);
  // Its JSON has the members promql and step (ms; 0: an instant) and no queries.
  [[nodiscard]] RunningQuery begin(const query::PromqlQuestion& question, const Request& request,
                                   const Clock& clock, std::stop_token stop = {},
                                   std::shared_ptr<RequestTrace> trace = nullptr);

  // Asks the running query with this id to stop. Returns false if there is none.
  bool cancel(std::uint64_t id);

  // {"completed":[..],"running":[..]}, newest first.
  [[nodiscard]] std::string json(TimestampMs now) const;
  // With ids and costs, without headers, for the status page.
  [[nodiscard]] std::string status_json(TimestampMs now) const;

 private:
  struct Run {
    std::uint64_t id = 0;
    std::stop_source stop;
    bool cancelled = false;  // by cancel()
    std::string query;       // JSON
    std::string remote;      // see Request::remote
    std::string headers;     // JSON
    TimestampMs begin = 0;
    TimestampMs end = 0;
    std::size_t running = 0;  // queries running when it began, including itself
    int status = 0;
    std::string exception;  // empty = none
    query::QueryCost cost;
    std::shared_ptr<RequestTrace> trace;  // may be null
  };
  RunningQuery begin_run(std::string query, const Request& request, const Clock& clock,
                         std::stop_token stop, std::shared_ptr<RequestTrace> trace);
  void finish(std::uint64_t id, TimestampMs now, int status, std::string exception,
              const query::QueryCost& cost);
  static void append(std::string& to, const Run& run);
  static void append_status(std::string& to, const Run& run, TimestampMs until);

  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 0;             // guarded by mutex_
  std::map<std::uint64_t, Run> running_;  // guarded by mutex_
  std::deque<Run> completed_;             // guarded by mutex_; newest first
};

}  // namespace halite::web
