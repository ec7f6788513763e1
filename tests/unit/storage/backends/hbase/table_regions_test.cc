#include "storage/backends/hbase/regions/table_regions.h"

#include <gtest/gtest.h>

#include "storage/backends/hbase/messages/table_descriptor.h"

namespace halite::storage {
namespace {

hbase::RegionStatus region(Bytes begin, std::string host, std::uint64_t reads,
                           std::uint64_t writes) {
  hbase::RegionStatus status;
  status.begin = std::move(begin);
  if (!host.empty()) status.server = {.host = std::move(host), .port = 16020};
  status.read_requests = reads;
  status.write_requests = writes;
  status.files = 2;
  status.files_mib = 10;
  status.memory_mib = 1;
  return status;
}

TEST(TableRegions, FirstRowsInWords) {
  const std::vector<hbase::RegionStatus> regions = {region("", "a", 0, 0),
                                                    region(Bytes("\3\0\0\3\0", 5), "a", 0, 0),
                                                    region(Bytes("\3\0\0\3", 4), "a", 0, 0)};
  const TableRegions ring = describe_regions("tsdb", regions, true);
  EXPECT_EQ(ring.table, "tsdb");
  EXPECT_EQ(ring.regions[0].from, "the first row");
  EXPECT_EQ(ring.regions[1].from, "salt 3 slot 768");
  EXPECT_EQ(ring.regions[2].from, "03000003");
  EXPECT_EQ(describe_regions("tsdb", regions, false).regions[1].from, "0300000300");
}

TEST(TableRegions, HotIsMuchMoreThanTheOthersThatAreAsked) {
  std::vector<hbase::RegionStatus> regions;
  for (int i = 0; i < 9; ++i) regions.push_back(region("", "a", 1000, 1000));
  regions.push_back(region("", "b", 50'000, 50'000));
  for (int i = 0; i < 100; ++i) regions.push_back(region("", "c", 0, 0));  // not in use
  TableRegions table = describe_regions("tsdb", regions, true);
  EXPECT_TRUE(table.regions[9].hot);
  EXPECT_FALSE(table.regions[0].hot);
  EXPECT_FALSE(table.regions[10].hot);

  // All alike, and few: none is hot.
  regions.assign(5, region("", "a", 50'000, 0));
  EXPECT_FALSE(describe_regions("tsdb", regions, true).regions[0].hot);
  regions = {region("", "a", 1, 0), region("", "a", 1, 0), region("", "a", 900, 0)};
  EXPECT_FALSE(describe_regions("tsdb", regions, true).regions[2].hot);
  EXPECT_TRUE(describe_regions("tsdb", {}, true).regions.empty());
}

TEST(TableRegions, LoadsOfServers) {
  const TableRegions table = describe_regions("tsdb",
                                              {region("", "b", 1, 2), region("x", "a", 10, 20),
                                               region("y", "b", 100, 200), region("z", "", 0, 0)},
                                              false);
  const std::vector<ServerLoad> loads = loads_of_servers(table);
  ASSERT_EQ(loads.size(), 3U);
  EXPECT_EQ(loads[0].server, "");  // on none just now
  EXPECT_EQ(loads[1].server, "a:16020");
  EXPECT_EQ(loads[2].server, "b:16020");
  EXPECT_EQ(loads[2].regions, 2U);
  EXPECT_EQ(loads[2].reads, 101U);
  EXPECT_EQ(loads[2].writes, 202U);
  EXPECT_EQ(loads[2].files_mib, 20U);
  EXPECT_EQ(loads[2].memory_mib, 2U);
  EXPECT_EQ(loads[2].hot, 0U);
}

}  // namespace
}  // namespace halite::storage
