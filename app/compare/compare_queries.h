// The queries of `halite compare`: parses a file of queries, line by line.
//
//   /api/query?start=1h-ago&m=sum:sys.cpu.user       a URI, or a whole URL
//   start=1h-ago&m=sum:sys.cpu.user                  its parameters alone
//   {"start":"1h-ago","queries":[...]}               a body for POST /api/query
//   10.1.2.3 - - [...] "GET /api/query?... HTTP/1.1" 200 4711     a line of an access log
//   # a comment, or an empty line
//
// From an access log it takes only GETs of /api/query, because the log has no bodies. It never
// takes a query that may delete.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"

namespace halite::app {

struct CompareQuery {
  std::size_t line = 0;   // of its first occurrence, from 1
  std::size_t times = 1;  // number of its occurrences
  std::string target;     // "/api/query?...", unchanged
  std::string body;       // empty = a GET
};

struct BadLine {
  std::size_t line = 0;
  std::string why;
};

struct CompareQueries {
  std::vector<CompareQuery> queries;  // distinct, in order of occurrence
  std::vector<BadLine> bad;
  // Lines of an access log that are skipped.
  std::size_t posts = 0;  // of /api/query
  std::size_t other = 0;  // of something else
};

[[nodiscard]] CompareQueries read_compare_queries(std::string_view text);

// The query with fixed times for "1h-ago", "now" and a missing end, so that both servers use one
// moment. Invalid texts stay unchanged: both servers report them.
[[nodiscard]] CompareQuery pinned(const CompareQuery& asked, TimestampMs now);

}  // namespace halite::app
