// The questions of `halite compare`: what a file of queries asks, line by line.
//
//   /api/query?start=1h-ago&m=sum:sys.cpu.user       a URI, or a whole URL
//   start=1h-ago&m=sum:sys.cpu.user                  its parameters alone
//   {"start":"1h-ago","queries":[...]}               a body for POST /api/query
//   10.1.2.3 - - [...] "GET /api/query?... HTTP/1.1" 200 4711     a line of an access log
//   # a remark, or nothing
//
// Of an access log, only GETs of /api/query can be asked again: it has no bodies. Nothing that may
// delete is ever taken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"

namespace halite::app {

struct CompareQuery {
  std::size_t line = 0;   // where it stood first, from 1
  std::size_t times = 1;  // how many lines asked it
  std::string target;     // "/api/query?...", as it stood
  std::string body;       // empty = a GET
};

struct BadLine {
  std::size_t line = 0;
  std::string why;
};

struct CompareQueries {
  std::vector<CompareQuery> queries;  // each once, in the order they came
  std::vector<BadLine> bad;
  // Lines of an access log that are not asked.
  std::size_t posts = 0;  // of /api/query
  std::size_t other = 0;  // of something else
};

[[nodiscard]] CompareQueries read_compare_queries(std::string_view text);

// The same with fixed times for "1h-ago", "now" and an end that is missing, so that both servers
// mean the same moment. What cannot be understood stays as it is: both will say so.
[[nodiscard]] CompareQuery pinned(const CompareQuery& asked, TimestampMs now);

}  // namespace halite::app
