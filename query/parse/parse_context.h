// The input of the query parsers besides the text.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "storage/api/regexps.h"

namespace halite::query {

// Query-string parameters in the order they came, percent-decoded.
using Parameters = std::vector<std::pair<std::string, std::string>>;

struct ParseContext {
  TimestampMs now = 0;
  std::string timezone;  // default zone for dates; empty = UTC
  std::size_t json_depth_max = 16;
  storage::Regexps regexps = storage::Regexps();
  std::size_t sub_queries_max = 256;  // query.sub_queries_max
  std::size_t metric_width = 3;       // bytes of a metric's UID in a TSUID
  // With --opentsdb-conf: timezone= of a URI does not affect dates, and messages are exactly
  // OpenTSDB's.
  bool opentsdb_words = false;
};

}  // namespace halite::query
