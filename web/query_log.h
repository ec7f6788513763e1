// Which questions run and which ran last, for /api/stats/query.
//
//   QueryLog::Entry entry = log.begin(question, now_ms);
//   ...
//   entry.finish(200, "", cost, now_ms);        or it is dropped: then it ended with 500
//
//   Threads  all calls from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "common/clock.h"
#include "query/engine.h"
#include "web/http_message.h"

namespace halite::web {

class QueryLog {
 public:
  static constexpr std::size_t kCompletedMax = 256;

  // One running question. Move-only; the log outlives it.
  class Entry {
   public:
    Entry(QueryLog& log, std::uint64_t id, const Clock& clock)
        : log_(&log), id_(id), clock_(clock) {}
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&&) = delete;
    ~Entry();
    void finish(int status, std::string exception, const query::QueryCost& cost);

   private:
    QueryLog* log_;  // nullptr: finished or moved from
    std::uint64_t id_;
    const Clock& clock_;
  };

  // The request is the one that asks: its sender and headers are shown, secrets masked.
  [[nodiscard]] Entry begin(const query::Question& question, const Request& request,
                            const Clock& clock);

  // {"completed":[..],"running":[..]}, the newest first.
  [[nodiscard]] std::string json(TimestampMs now) const;

 private:
  struct Run {
    std::string query;    // JSON
    std::string remote;   // as Request::remote
    std::string headers;  // JSON
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

  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 0;             // guarded by mutex_
  std::map<std::uint64_t, Run> running_;  // guarded by mutex_
  std::deque<Run> completed_;             // guarded by mutex_; the newest first
};

}  // namespace halite::web
