// The TTL of HBase's tables, which daemons with different settings may share.
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/hbase/table/hbase_store.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/log_capture.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::HasSubstr;

constexpr std::int64_t kDay = 86'400'000;

class HBaseExpiryTest : public testing::Test {
 protected:
  HBaseExpiryTest() { options_.client.registry = {hbase_.endpoint(0)}; }

  // A daemon that starts with this TTL, opens the table twice as starts do, and ends; what it says.
  std::string start(std::int64_t ttl_ms) {
    const test::LogCapture log;
    HBaseStore store(options_, clock_, registry_);
    const TableSpec spec{
        .name = "points", .families = {{.name = "t", .ttl_ms = ttl_ms}}, .split_keys = {}};
    for (int i = 0; i < 2; ++i) {
      const auto table = run_task(store.open_table(spec));
      EXPECT_TRUE(table) << table.error().message;
    }
    EXPECT_TRUE(run_task(store.close()));
    return log.text();
  }
  std::string ttl_s() const { return hbase_.attribute("points", "t", "TTL"); }

  test::FakeHBase hbase_;
  FakeClock clock_{1'700'000'000'000};
  prometheus::Registry registry_;
  HBaseStoreOptions options_;
};

// A text of HBase's that is no number is not taken for "for ever".
TEST(HBaseTtl, WhatIsNoTtlIsSaid) {
  hbase::FamilyDescriptor family;
  family.name = "t";
  EXPECT_EQ(ttl_s_of(family), kForEverS);
  for (const auto& [text, ttl_s] : {std::pair{"FOREVER", kForEverS}, {"86400", 86'400L}}) {
    family.attributes["TTL"] = text;
    EXPECT_EQ(ttl_s_of(family), ttl_s) << text;
  }
  for (const char* text : {"", "1 DAY", "86400x", "-5", "99999999999999999999"}) {
    family.attributes["TTL"] = text;
    const Result<std::int64_t> none = ttl_s_of(family);
    ASSERT_FALSE(none) << text;
    EXPECT_THAT(none.error().message, HasSubstr("TTL = \"" + std::string(text) + "\""));
  }
}

TEST_F(HBaseExpiryTest, ADaemonWithAShorterTtlDeletesNothingThatOthersKeep) {
  start(90 * kDay);
  EXPECT_EQ(ttl_s(), "7776060");  // a minute more than ours
  const std::string said = start(7 * kDay);
  EXPECT_EQ(ttl_s(), "7776060");
  EXPECT_EQ(said,
            "HBase keeps cells of points:t for 7776060 s, which is longer than the configured TTL, "
            "for 604860 s: Halite hides older data, other clients still see it\n");
  EXPECT_EQ(start(90 * kDay), "");
}

TEST_F(HBaseExpiryTest, ALongerTtlIsThatOfTheTable) {
  start(7 * kDay);
  EXPECT_THAT(start(90 * kDay),
              HasSubstr("changed: cells were kept for 604860 s, and are now kept for 7776060"));
  EXPECT_EQ(ttl_s(), "7776060");
  start(0);
  EXPECT_EQ(ttl_s(), "2147483647");
  EXPECT_THAT(start(7 * kDay), HasSubstr("keeps cells of points:t for ever, which is longer"));
  EXPECT_EQ(ttl_s(), "2147483647");
}

TEST_F(HBaseExpiryTest, AShorterTtlComesWhereItIsAskedFor) {
  start(0);
  options_.tables.lower_ttl = true;
  EXPECT_THAT(start(7 * kDay),
              HasSubstr("changed: cells were kept for ever, and are now kept for 604860 s"));
  EXPECT_EQ(ttl_s(), "604860");
}

TEST_F(HBaseExpiryTest, WhereItIsOffTheTableStaysAndWhatItLosesIsTold) {
  start(7 * kDay);
  options_.tables.expire = false;
  EXPECT_THAT(start(90 * kDay), HasSubstr("which is shorter than the configured TTL"));
  EXPECT_EQ(start(kDay), "");
  EXPECT_EQ(ttl_s(), "604860");
}

}  // namespace
}  // namespace halite::storage
