// Describes the regions of a table of points on an HBase cluster, for people.
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
  std::string server;        // host:port; empty: no server at present, and all below is 0
  std::uint64_t reads = 0;   // requests since the region was opened
  std::uint64_t writes = 0;  // requests since the region was opened
  std::uint32_t files = 0;
  std::uint32_t files_mib = 0;   // on disk
  std::uint32_t memory_mib = 0;  // not yet in files
  bool hot = false;  // many requests, and many times the average of regions that have any
};

struct TableRegions {
  std::string table;                 // its full name
  std::vector<TableRegion> regions;  // by their first rows
};

// Totals of one server's regions.
struct ServerLoad {
  std::string server;  // as in TableRegion
  std::uint64_t regions = 0;
  std::uint64_t hot = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t files_mib = 0;
  std::uint64_t memory_mib = 0;
};

// `slots`: first rows consist of a salt and a slot of a ring.
[[nodiscard]] TableRegions describe_regions(std::string table,
                                            const std::vector<hbase::RegionStatus>& regions,
                                            bool slots);

// By name.
[[nodiscard]] std::vector<ServerLoad> loads_of_servers(const TableRegions& table);

}  // namespace halite::storage
