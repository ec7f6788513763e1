// Where points are: the argument of a migration's --from and --to.
//
//   http[s]://HOST:PORT     a running server
//   hbase://QUORUM[/ROOT]   OpenTSDB's tables on HBase; QUORUM: HOST[:PORT][,...] of ZooKeeper
//   anything else           a data directory of the embedded engine; HOST:PORT alone is an error
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite::app {

struct Location {
  std::string url;  // of a server; empty: a store
  // Of a store: settings, NAME=VALUE.
  std::vector<std::string> settings;
};

// kInvalidArgument: it is empty, a URL of another kind, or HOST:PORT without http://.
[[nodiscard]] Result<Location> parse_location(std::string_view text);

}  // namespace halite::app
