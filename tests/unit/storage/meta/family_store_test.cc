#include "storage/meta/objects/family_store.h"

#include <gtest/gtest.h>

#include "tests/unit/storage/meta/name_world.h"

namespace halite::storage {
namespace {

using test::run_task;

class FamilyStoreTest : public testing::Test {
 protected:
  Families all(std::size_t families_max = 100) {
    return *run_task(store_.read(std::nullopt, families_max));
  }

  NameWorld world_;
  std::shared_ptr<Table> table_ = world_.open(family_table_spec("halite-families"));
  FamilyStore store_{table_};
};

TEST_F(FamilyStoreTest, TextsAddUp) {
  ASSERT_TRUE(run_task(store_.put({{"x", {.type = "counter", .unit = {}, .help = {}}}})));
  ASSERT_TRUE(run_task(store_.put({{"x", {.type = {}, .unit = {}, .help = "All x."}},
                                   {"a", {.type = "gauge", .unit = "bytes", .help = {}}}})));
  const Families expected = {{"a", {.type = "gauge", .unit = "bytes", .help = {}}},
                             {"x", {.type = "counter", .unit = {}, .help = "All x."}}};
  EXPECT_EQ(all(), expected);
  EXPECT_EQ(*run_task(FamilyStore(table_).read(std::nullopt, 100)), expected);
  EXPECT_EQ(*run_task(store_.read("x", 100)), Families({*expected.find("x")}));
  EXPECT_TRUE(run_task(store_.read("nobody", 100))->empty());
  EXPECT_EQ(all(1).size(), 1U);
}

TEST_F(FamilyStoreTest, TheLastTextWins) {
  for (const char* const type : {"gauge", "counter", "counter"}) {
    ASSERT_TRUE(run_task(store_.put({{"x", {.type = type, .unit = {}, .help = {}}}})));
  }
  EXPECT_EQ(all()["x"].type, "counter");
}

TEST_F(FamilyStoreTest, LongTextsAreNotKept) {
  const std::string longest(FamilyStore::kTextBytesMax, 'h');
  ASSERT_TRUE(run_task(store_.put({{"", {.type = "gauge", .unit = {}, .help = {}}},
                                   {longest + 'n', {.type = "gauge", .unit = {}, .help = {}}},
                                   {"x", {.type = "gauge", .unit = {}, .help = longest + 'h'}},
                                   {"y", {.type = {}, .unit = {}, .help = longest}}})));
  EXPECT_EQ(all(), Families({{"x", {.type = "gauge", .unit = {}, .help = {}}},
                             {"y", {.type = {}, .unit = {}, .help = longest}}}));
}

}  // namespace
}  // namespace halite::storage
