// The process's metrics under OpenTSDB's names, for /api/stats, /stats and telnet `stats`.
//
// A metric that OpenTSDB has too gets its name ("tsd.rpc.received type=http"). All others are under
// "tsd.halite.": halite_web_timeouts_total -> tsd.halite.web.timeouts_total.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "web/server.h"

namespace halite::web {

struct Stat {
  std::string name;
  std::string value;                        // digits, perhaps with a decimal point
  std::map<std::string, std::string> tags;  // including "host" (or "fqdn")
};

struct Stats {
  std::int64_t time_s = 0;
  std::vector<Stat> list;
};

// One of OpenTSDB's metrics, and the Halite metric whose values it sums.
struct OpentsdbStat {
  std::string_view name;
  std::string_view type;    // its tag; empty = none
  std::string_view family;  // "halite_..."
  // Only values with this label; with `other`, only those with any other value of it.
  std::string_view label = {};
  std::string_view value = {};
  bool other = false;
};
[[nodiscard]] std::span<const OpentsdbStat> opentsdb_stats();

// The options set the tag "host", its alternative name and the tag "port".
[[nodiscard]] Stats collect_stats(const WebServices& services, const WebOptions& options);

// tsd.<name> <epoch s> <value> [tag=val ...] host=<h>
void append_stats_lines(std::string& to, const Stats& stats);
// [{"metric":..,"timestamp":<s>,"value":"<text>","tags":{..}},..]
void append_stats_json(std::string& to, const Stats& stats);
// The lines as an array of strings.
void append_stats_lines_json(std::string& to, const Stats& stats);

}  // namespace halite::web
