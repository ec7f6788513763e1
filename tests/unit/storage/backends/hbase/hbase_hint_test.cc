// What region servers are told of wanted rows: the rows that they need not send.
#include <memory>
#include <string>

#include "storage/api/scan_hint.h"
#include "tests/support/metric_value.h"
#include "tests/unit/storage/backends/hbase/hbase_table_fixture.h"

namespace halite::storage {
namespace {

using namespace std::string_literals;
using test::run_task;

class HBaseHintTest : public HBaseTableTest {
 protected:
  HBaseHintTest() {
    open({"m"});
    std::vector<RowWrite> rows;
    for (const char* key : {"a1x", "a2x", "b1x", "b2x", "z1x", "z2x"}) {
      rows.push_back({key, {{{0, "q"}, key, 1}}, {}});
    }
    EXPECT_TRUE(run_task(table_->write(std::move(rows))));
  }
  static ScanSpec told(std::shared_ptr<const ScanHint> hint, bool reverse = false) {
    ScanSpec spec;
    spec.hint = std::move(hint);
    spec.reverse = reverse;
    return spec;
  }

  std::string keys(ScanSpec spec) {
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
    std::string keys;
    for (;;) {
      const Result<std::vector<Row>> rows = run_task(scanner->next({}));
      if (!rows) return rows.error().message;
      if (rows->empty()) return keys;
      for (const Row& row : *rows) keys += (keys.empty() ? "" : ",") + row.key;
    }
  }
  double rows_received() const {
    return test::metric_value(registry_, "halite_hbase_scanned_rows_total");
  }
};

TEST_F(HBaseHintTest, WithoutOneEveryRowIsSent) {
  EXPECT_EQ(keys({}), "a1x,a2x,b1x,b2x,z1x,z2x");
  EXPECT_EQ(rows_received(), 6);
}

TEST_F(HBaseHintTest, MasksKeepRowsWhereTheyAre) {
  auto hint = std::make_shared<ScanHint>();
  hint->row_masks = {
      {"\0"
       "1"s,
       "\1\0"s}};
  EXPECT_EQ(keys(told(hint)), "a1x,b1x,z1x");
  EXPECT_EQ(rows_received(), 3);
}

TEST_F(HBaseHintTest, ARegularExpressionDoesToo) {
  auto hint = std::make_shared<ScanHint>();
  hint->row_regex = "(?s)\\A.\\x32";
  ScanSpec two = told(hint);
  two.ranges = {{"a", "b"}, {"z", ""}};
  EXPECT_EQ(keys(two), "a2x,z2x");
  EXPECT_EQ(rows_received(), 2);
  EXPECT_EQ(keys(told(hint, true)), "z2x,b2x,a2x");
}

// As they are sent.
TEST_F(HBaseHintTest, ScansCanBeTold) {
  auto hint = std::make_shared<ScanHint>();
  hint->row_masks = {{"\0\x31"s, "\1\0"s}, {"ab", "\0\0"s}};
  ScanSpec spec = told(hint);
  spec.ranges = {{"a", "b"}, {"z", ""}};
  spec.qualifier_begin = "\x0f";
  spec.time_begin = 7;
  std::vector<ScanDescription> texts = table_->describe_scan(spec);
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts[0].begin, "a");
  EXPECT_EQ(texts[0].end, "");
  EXPECT_EQ(texts[0].filter,
            "MultiRowRangeFilter(2 ranges) and FuzzyRowFilter(??31|6162) and "
            "ColumnRangeFilter(0F to )");
  EXPECT_EQ(texts[0].cells_since, 7);
  spec = told(nullptr, true);
  spec.ranges = {{"a", "b"}, {"z", ""}};
  texts = table_->describe_scan(spec);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].begin, "z");
  EXPECT_EQ(texts[0].filter, "");
}

TEST_F(HBaseHintTest, BackwardsMasksAreNotTold) {
  auto hint = std::make_shared<ScanHint>();
  hint->row_masks = {
      {"\0"
       "1"s,
       "\1\0"s}};
  EXPECT_EQ(keys(told(hint, true)), "z2x,z1x,b2x,b1x,a2x,a1x");
}

}  // namespace
}  // namespace halite::storage
