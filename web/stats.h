// The process's own numbers under OpenTSDB's names: for /api/stats, /stats and telnet `stats`.
//
// Where we count the same thing the name is OpenTSDB's ("tsd.rpc.received type=http"). Everything
// else is there too, under "tsd.halite.": halite_web_timeouts_total ->
// tsd.halite.web.timeouts_total.
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
  std::string value;                        // digits, perhaps with a point
  std::map<std::string, std::string> tags;  // "host" (or "fqdn") among them
};

struct Stats {
  std::int64_t time_s = 0;
  std::vector<Stat> list;
};

// One of OpenTSDB's own numbers, and the metric of ours whose values it sums up.
struct OpentsdbStat {
  std::string_view name;
  std::string_view type;    // its tag; empty = none
  std::string_view family;  // "halite_..."
  // Only values with this label; with `other`, only those with another value of it.
  std::string_view label = {};
  std::string_view value = {};
  bool other = false;
};
[[nodiscard]] std::span<const OpentsdbStat> opentsdb_stats();

// The tag "host", its other name and the tag "port" are as the options say.
[[nodiscard]] Stats collect_stats(const WebServices& services, const WebOptions& options);

// tsd.<name> <epoch s> <value> [tag=val ...] host=<h>
void append_stats_lines(std::string& to, const Stats& stats);
// [{"metric":..,"timestamp":<s>,"value":"<text>","tags":{..}},..]
void append_stats_json(std::string& to, const Stats& stats);
// The lines as an array of strings.
void append_stats_lines_json(std::string& to, const Stats& stats);

}  // namespace halite::web
