#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/meta/trees/tree_builder.h"
#include "storage/meta/trees/tree_sorter.h"
#include "storage/meta/trees/tree_store.h"
#include "tests/unit/storage/meta/name_world.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class TreeTest : public testing::Test {
 protected:
  std::int32_t make(std::string_view json) {
    const auto id = run_task(trees_.create(*parse_tree_edit(json)));
    return id ? *id : -1;
  }
  Result<bool> rule(std::string_view json, bool replace = false) {
    return run_task(trees_.put_rule(*parse_tree_rule(json), replace));
  }
  // sys.cpu or sys.mem with host=web01.
  Bytes series(std::string_view metric_hex) {
    const Bytes tsuid = *from_hex(std::string(metric_hex) + "000001000001");
    TsMeta meta;
    meta.tsuid = to_hex(tsuid);
    EXPECT_TRUE(run_task(world_.ts_metas.create(tsuid, meta, 1)));
    return tsuid;
  }
  std::string cell(std::string_view row_hex, std::string qualifier) {
    return NameWorld::cell(*table_, 0, row_hex, std::move(qualifier));
  }

  NameWorld world_;
  std::shared_ptr<Table> table_ = world_.open(tree_table_spec("tsdb-tree"));
  TreeStore trees_{table_, world_.uids, {}, {}};
  TreeSorter sorter_{trees_, world_.ts_metas, world_.clock};
};

TEST_F(TreeTest, CellsAreOpenTsdbsByteForByte) {
  ASSERT_EQ(make(R"({"name":"T","description":"d","enabled":true})"), 1);
  ASSERT_TRUE(rule(R"({"treeId":1,"level":0,"order":0,"type":"TAGK","field":"host"})"));
  ASSERT_TRUE(rule(R"({"treeId":1,"level":1,"order":0,"type":"METRIC","separator":"\\."})"));
  ASSERT_TRUE(run_task(sorter_.add(series("000001"))));
  EXPECT_EQ(cell("0001", "tree"),
            R"({"name":"T","description":"d","notes":"","strictMatch":false,"created":0,)"
            R"("enabled":true,"storeFailures":false})");
  EXPECT_EQ(cell("0001", "tree_rule:1:0"),
            R"({"type":"METRIC","field":"","regex":"","separator":"\\.","description":"",)"
            R"("notes":"","level":1,"order":0,"treeId":1,"customField":"","regexGroupIdx":0,)"
            R"("displayFormat":""})");
  EXPECT_EQ(cell("0001", "branch"), R"({"path":{"0":"ROOT"},"displayName":"ROOT"})");
  const std::string host = to_hex(branch_id({.tree_id = 1,
                                             .display_name = "web01",
                                             .path = {"ROOT", "web01"},
                                             .leaves = {},
                                             .branches = {}}));
  EXPECT_EQ(cell(host, "branch"), R"({"path":{"0":"ROOT","1":"web01"},"displayName":"web01"})");
  EXPECT_EQ(cell(host + "0001BECD", "branch"),
            R"({"path":{"0":"ROOT","1":"web01","2":"sys"},"displayName":"sys"})");
  EXPECT_EQ(cell(host + "0001BECD", "leaf:" + *from_hex("000181A8")),
            R"({"displayName":"cpu","tsuid":"000001000001000001"})");
}

TEST_F(TreeTest, ABranchShowsItsLeavesAndTheBranchesInIt) {
  ASSERT_EQ(make(R"({"name":"T","enabled":true})"), 1);
  ASSERT_TRUE(rule(R"({"treeId":1,"type":"METRIC","separator":"\\.","level":0,"order":0})"));
  ASSERT_TRUE(run_task(sorter_.add(series("000001"))));
  ASSERT_TRUE(run_task(sorter_.add(series("000002"))));
  const auto root = run_task(trees_.branch(tree_row(1)));
  ASSERT_TRUE(root && *root);
  ASSERT_EQ((*root)->branches.size(), 1u);
  EXPECT_EQ((*root)->branches[0]->display_name, "sys");
  const auto sys = run_task(trees_.branch(branch_id(*(*root)->branches[0])));
  ASSERT_TRUE(sys && *sys);
  std::string json;
  append_shown_json(json, **sys);
  EXPECT_EQ(json, R"({"leaves":[{"metric":"sys.cpu","tags":{"host":"web01"},"displayName":"cpu",)"
                  R"("tsuid":"000001000001000001"},{"metric":"sys.mem","tags":{"host":"web01"},)"
                  R"("displayName":"mem","tsuid":"000002000001000001"}],"branches":null,)"
                  R"("path":{"0":"ROOT","1":"sys"},"treeId":1,"branchId":"00010001BECD","depth":1,)"
                  R"("displayName":"sys"})");
  EXPECT_FALSE(run_task(trees_.branch(tree_row(2)))->has_value());
}

TEST_F(TreeTest, CollisionsAndWhatDoesNotMatchAreKeptWhereAskedFor) {
  ASSERT_EQ(make(R"({"name":"T","enabled":true,"storeFailures":true})"), 1);
  // Both series want the leaf web01 on the branch "all".
  ASSERT_TRUE(rule(R"({"treeId":1,"type":"METRIC","displayFormat":"all","level":0,"order":0})"));
  ASSERT_TRUE(rule(R"({"treeId":1,"type":"TAGK","field":"host","level":1,"order":0})"));
  ASSERT_TRUE(run_task(sorter_.add(series("000001"))));
  ASSERT_TRUE(run_task(sorter_.add(series("000002"))));
  ASSERT_TRUE(run_task(sorter_.add(series("000002"))));
  EXPECT_THAT(*run_task(trees_.failures(TreeStore::Failure::kCollision, 1, {})),
              ElementsAre(Pair("000002000001000001", "000001000001000001")));
  ASSERT_TRUE(rule(R"({"treeId":1,"type":"TAGK","field":"rack","level":2,"order":0})"));
  TreeEdit strict = *parse_tree_edit(R"({"treeId":1,"strictMatch":true})");
  ASSERT_TRUE(run_task(trees_.change(strict, false)));
  ASSERT_TRUE(run_task(sorter_.add(series("000001"))));
  EXPECT_THAT(*run_task(trees_.failures(TreeStore::Failure::kNotMatched, 1, {})),
              ElementsAre(Pair("000001000001000001", "[1:2:0:TAGK]")));
  EXPECT_THAT(*run_task(trees_.failures(TreeStore::Failure::kNotMatched, 1, {Bytes("\1")})),
              IsEmpty());
}

TEST_F(TreeTest, RulesMergeAndSayWhetherTheyChanged) {
  ASSERT_EQ(make(R"({"name":"T"})"), 1);
  EXPECT_TRUE(*rule(R"({"treeId":1,"level":1,"type":"TAGK","field":"host"})"));
  EXPECT_FALSE(*rule(R"({"treeId":1,"level":1,"type":"TAGK","field":"host"})"));
  EXPECT_TRUE(*rule(R"({"treeId":1,"level":1,"notes":"n"})"));
  EXPECT_EQ((*run_task(trees_.get(1)))->rules.at(1).at(0).field, "host");
  EXPECT_EQ(rule(R"({"treeId":1,"level":2,"type":"TAGK"})").error().message,
            "Missing field name required for TAGK rule");
  ASSERT_TRUE(run_task(trees_.remove_rule(1, 1, 0)));
  EXPECT_THAT((*run_task(trees_.get(1)))->rules, IsEmpty());
}

TEST_F(TreeTest, TreesAreListedAndRemoved) {
  ASSERT_EQ(make(R"({"name":"A","enabled":true})"), 1);
  ASSERT_EQ(make(R"({"name":"B"})"), 2);
  ASSERT_TRUE(rule(R"({"treeId":1,"type":"METRIC","separator":"\\."})"));
  ASSERT_TRUE(run_task(sorter_.add(series("000001"))));
  EXPECT_EQ(run_task(trees_.all())->size(), 2u);
  ASSERT_TRUE(run_task(trees_.remove(1, false)));
  EXPECT_FALSE(run_task(trees_.branch(tree_row(1)))->has_value());
  EXPECT_EQ(run_task(trees_.all())->size(), 2u);
  ASSERT_TRUE(run_task(trees_.remove(1, true)));
  EXPECT_EQ(run_task(trees_.all())->size(), 1u);
  EXPECT_FALSE(run_task(trees_.get(1))->has_value());
  EXPECT_EQ(run_task(trees_.get(0)).error().message, "Invalid Tree ID");
  EXPECT_EQ(make("{}"), -1);
}

TEST(TreeBuilder, RegularExpressionsFormatsAndAlternatives) {
  Tree tree;
  tree.id = 3;
  tree.rules[0][0] =
      *parse_tree_rule(R"({"treeId":3,"type":"TAGK","field":"rack","level":0,"order":0})");
  tree.rules[0][1] = *parse_tree_rule(
      R"({"treeId":3,"type":"TAGK","field":"host","regex":"^(web)(\\d+)$","regexGroupIdx":1,
          "displayFormat":"{tag_name} {value} of {ovalue}","level":0,"order":1})");
  tree.rules[4][0] = *parse_tree_rule(R"({"treeId":3,"type":"METRIC","level":4,"order":0})");
  TsMeta series;
  series.tsuid = "01";
  series.metric.name = "sys.cpu";
  series.tags.resize(2);
  series.tags[0].name = "host";
  series.tags[1].name = "web01";
  const auto place = TreeBuilder(tree).run(series);
  ASSERT_TRUE(place && place->branch);
  EXPECT_EQ(place->branch->display_name, "host 01 of web01");
  ASSERT_EQ(place->branch->leaves.size(), 1u);
  EXPECT_EQ(place->branch->leaves[0].display_name, "sys.cpu");
  EXPECT_EQ(place->not_matched, "");
  EXPECT_THAT(
      place->messages,
      ElementsAre("Processing rule: [3:0:0:TAGK]", "No match on tagk [rack] for rule: [3:0:0:TAGK]",
                  "Processing rule: [3:0:1:TAGK]", "Matched tagk [host] for rule: [3:0:1:TAGK]",
                  "Processing rule: [3:4:0:METRIC]",
                  "Depth [3] Adding leaf [name: sys.cpu tsuid: 01] to parent branch "
                  "[Name: [host 01 of web01]]"));
}

TEST(TreeBuilder, TooDeepIsAnError) {
  Tree tree;
  tree.id = 1;
  tree.rules[0][0] = *parse_tree_rule(R"({"treeId":1,"type":"METRIC","separator":"\\."})");
  TsMeta series;
  series.tsuid = "01";
  for (int i = 0; i < 300; ++i) series.metric.name += "a.b.";
  EXPECT_EQ(TreeBuilder(tree).run(series).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace halite::storage
