// Which questions run and which ran last, for /api/stats/query and /api/server/queries; and the
// way to stop one.
//
//   QueryLog::Entry entry = log.begin(question, request, clock, stop);
//   ... entry.stop() ...                 asked for by `stop`, and by cancel()
//   entry.finish(200, "", cost);         or it is dropped: then it ended with 500
//
//   Threads  all calls from any thread.
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
#include "web/http_message.h"

namespace halite::web {

class QueryLog {
 public:
  static constexpr std::size_t kCompletedMax = 256;

  // One running question. Move-only; the log outlives it.
  class RunningQuery {
   public:
    RunningQuery(QueryLog& log, std::uint64_t id, const Clock& clock, std::stop_source source,
                 std::stop_token outer);
    RunningQuery(RunningQuery&& other) noexcept;
    RunningQuery& operator=(RunningQuery&&) = delete;
    ~RunningQuery();
    void finish(int status, std::string exception, const query::QueryCost& cost);
    [[nodiscard]] std::stop_token stop() const { return source_.get_token(); }

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
  };

  // The request is the one that asks: its sender and headers are shown, secrets masked.
  [[nodiscard]] RunningQuery begin(const query::Question& question, const Request& request,
                                   const Clock& clock, std::stop_token stop = {});

  // Asks the running question of this id to stop. False: none has it.
  bool cancel(std::uint64_t id);

  // {"completed":[..],"running":[..]}, the newest first.
  [[nodiscard]] std::string json(TimestampMs now) const;
  // The same with ids and costs, without headers: for people.
  [[nodiscard]] std::string status_json(TimestampMs now) const;

 private:
  struct Run {
    std::uint64_t id = 0;
    std::stop_source stop;
    bool cancelled = false;  // by cancel()
    std::string query;       // JSON
    std::string remote;      // as Request::remote
    std::string headers;     // JSON
    TimestampMs begin = 0;
    TimestampMs end = 0;
    std::size_t running = 0;  // questions when it began, itself among them
    int status = 0;
    std::string exception;  // empty: none
    query::QueryCost cost;
  };
  void finish(std::uint64_t id, TimestampMs now, int status, std::string exception,
              const query::QueryCost& cost);
  static void append(std::string& to, const Run& run);
  static void append_status(std::string& to, const Run& run, TimestampMs until);

  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 0;             // guarded by mutex_
  std::map<std::uint64_t, Run> running_;  // guarded by mutex_
  std::deque<Run> completed_;             // guarded by mutex_; the newest first
};

}  // namespace halite::web
