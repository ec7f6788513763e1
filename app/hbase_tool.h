// `halite hbase ...`: tables made in HBase before anybody writes, and a look at their regions.
#pragma once

#include <string>

#include "app/options.h"

namespace halite::app {

// Makes the tables that are not there, and gives those that Halite made before the TTL of the
// settings if that is longer, or also if it is shorter where tables.lower_ttl is set. Says how the
// table of points is cut, how many of its regions are written to at a time, and whether the
// servers' memory is enough for that.
[[nodiscard]] Result<std::string> create_hbase_tables(const Options& options);

// The regions of the table of points: where they are, what they hold, which are hot; and what each
// server has of them.
[[nodiscard]] Result<std::string> show_hbase_regions(const Options& options);

}  // namespace halite::app
