#include "storage/backends/hbase/regions/table_regions.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/bytes.h"
#include "storage/backends/hbase/messages/table_descriptor.h"

namespace halite::storage {
namespace {

// A region is hot at this multiple of the average requests, over regions that have any.
constexpr double kHotTimes = 4;
constexpr double kHotRequests = 10'000;
constexpr std::size_t kSaltAndSlotBytes = 5;

double requests_of(const hbase::RegionStatus& region) {
  return static_cast<double>(region.read_requests) + static_cast<double>(region.write_requests);
}

// The number of requests from which a region is hot.
double hot_from(const std::vector<hbase::RegionStatus>& regions) {
  double all = 0;
  double asked = 0;
  for (const hbase::RegionStatus& region : regions) {
    all += requests_of(region);
    asked += requests_of(region) > 0 ? 1 : 0;
  }
  return std::max(kHotRequests, asked == 0 ? 0 : kHotTimes * all / asked);
}

std::string border_text(BytesView key, bool slots) {
  if (key.empty()) return "the first row";
  if (slots && key.size() == kSaltAndSlotBytes) {
    return fmt::format("salt {} slot {}", load_be<std::uint8_t>(key.data()),
                       load_be<std::uint32_t>(key.data() + 1));
  }
  return to_hex(key);
}

}  // namespace

TableRegions describe_regions(std::string table, const std::vector<hbase::RegionStatus>& regions,
                              bool slots) {
  TableRegions described{.table = std::move(table), .regions = {}};
  const double hot = hot_from(regions);
  for (const hbase::RegionStatus& region : regions) {
    const bool somewhere = region.server.port != 0;
    described.regions.push_back(
        {.from = border_text(region.begin, slots),
         .server = somewhere ? fmt::format("{}:{}", region.server.host, region.server.port)
                             : std::string(),
         .reads = region.read_requests,
         .writes = region.write_requests,
         .files = region.files,
         .files_mib = region.files_mib,
         .memory_mib = region.memory_mib,
         .hot = requests_of(region) >= hot});
  }
  return described;
}

std::vector<ServerLoad> loads_of_servers(const TableRegions& table) {
  std::map<std::string_view, ServerLoad> by_name;
  for (const TableRegion& region : table.regions) {
    ServerLoad& load = by_name[region.server];
    load.server = region.server;
    ++load.regions;
    load.hot += region.hot ? 1 : 0;
    load.reads += region.reads;
    load.writes += region.writes;
    load.files_mib += region.files_mib;
    load.memory_mib += region.memory_mib;
  }
  std::vector<ServerLoad> loads;
  for (auto& [name, load] : by_name) loads.push_back(std::move(load));
  return loads;
}

}  // namespace halite::storage
