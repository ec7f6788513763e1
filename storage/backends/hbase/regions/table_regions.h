// How a table of points lies on a cluster of HBase, for people who look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halite::storage::hbase {
struct RegionStatus;
}

namespace halite::storage {

struct TableRegion {
  std::string from;          // its first row: "the first row", "salt 3 slot 768", or in hex
  std::string server;        // host:port; empty: on none just now, and all below is 0
  std::uint64_t reads = 0;   // requests since it was opened
  std::uint64_t writes = 0;  // the same
  std::uint32_t files = 0;
  std::uint32_t files_mib = 0;   // on disk
  std::uint32_t memory_mib = 0;  // not yet in files
  bool hot = false;  // many requests, and many times as many as its fellows that have any
};

struct TableRegions {
  std::string table;                 // its whole name
  std::vector<TableRegion> regions;  // by their first rows
};

// What the regions of one server have in common.
struct ServerLoad {
  std::string server;  // as in TableRegion
  std::uint64_t regions = 0;
  std::uint64_t hot = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t files_mib = 0;
  std::uint64_t memory_mib = 0;
};

// `slots`: first rows are a salt and a slot of a ring.
[[nodiscard]] TableRegions describe_regions(std::string table,
                                            const std::vector<hbase::RegionStatus>& regions,
                                            bool slots);

// By name.
[[nodiscard]] std::vector<ServerLoad> loads_of_servers(const TableRegions& table);

}  // namespace halite::storage
