// The process's own numbers under OpenTSDB's names: for /api/stats, /stats and telnet `stats`.
//
// Where we count the same thing the name is OpenTSDB's ("tsd.rpc.received type=http"). Everything
// else is there too, under "tsd.halite.": halite_web_timeouts_total ->
// tsd.halite.web.timeouts_total.
#pragma once

#include <map>
#include <string>
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

// The tag "host", its other name and the tag "port" are as the options say.
[[nodiscard]] Stats collect_stats(const WebServices& services, const WebOptions& options);

// tsd.<name> <epoch s> <value> [tag=val ...] host=<h>
void append_stats_lines(std::string& to, const Stats& stats);
// [{"metric":..,"timestamp":<s>,"value":"<text>","tags":{..}},..]
void append_stats_json(std::string& to, const Stats& stats);
// The lines as an array of strings.
void append_stats_lines_json(std::string& to, const Stats& stats);

}  // namespace halite::web
