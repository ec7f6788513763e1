// `halite hbase ...`: creates tables in HBase in advance and shows their regions.
#pragma once

#include <string>

#include "app/settings/options.h"

namespace halite::app {

// Creates missing tables. Applies the TTL of the settings to tables that Halite created, if it is
// longer, or also if it is shorter and tables.lower_ttl is set. Reports how the point table is
// split, how many of its regions receive writes at a time, and whether the servers have enough
// memory for that.
[[nodiscard]] Result<std::string> create_hbase_tables(const Options& options);

// The regions of the point table: their servers, their sizes, which are hot; and the share of each
// server.
[[nodiscard]] Result<std::string> show_hbase_regions(const Options& options);

}  // namespace halite::app
