// What tables may be called, and what HBase calls them.
#include <gtest/gtest.h>

#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage {
namespace {

Result<void> check(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"t", 0}};
  return check_table_spec(spec);
}

TEST(HBaseNamesTest, TablesMayHaveANamespace) {
  for (const char* name : {"tsdb", "ns:tsdb", "Ns_1:tsdb-uid", "prod.tsdb", "ns:prod.tsdb_2"}) {
    EXPECT_TRUE(check(name)) << name;
  }
  for (const char* name : {"", ":", "ns:", ":tsdb", "a:b:c", "n-s:tsdb", "n.s:tsdb", ".tsdb",
                           "-tsdb", "ns:-tsdb", "ns:.", "a/b", "a b", "\xC3\xA9"}) {
    const Result<void> refused = check(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  }
}

TEST(HBaseNamesTest, APrefixStandsBehindTheNamespace) {
  const auto whole = [](const char* prefix, const char* table) {
    HBaseStoreOptions options;
    options.table_prefix = prefix;
    return options.whole_name(table);
  };
  EXPECT_EQ(whole("", "tsdb"), "tsdb");
  EXPECT_EQ(whole("p-", "tsdb"), "p-tsdb");
  EXPECT_EQ(whole("", "ns:tsdb"), "ns:tsdb");
  EXPECT_EQ(whole("p-", "ns:tsdb"), "ns:p-tsdb");
  EXPECT_EQ(whole("ns:", "tsdb"), "ns:tsdb");
  EXPECT_EQ(whole("ns:p-", "tsdb"), "ns:p-tsdb");
  EXPECT_EQ(whole("", "default:tsdb"), "tsdb");
  EXPECT_EQ(whole("default:", "tsdb"), "tsdb");
  EXPECT_FALSE(check(whole("a:", "b:tsdb")));
}

}  // namespace
}  // namespace halite::storage
