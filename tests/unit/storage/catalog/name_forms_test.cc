// Names in a table that OpenTSDB and earlier versions write, too.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/catalog/name_order.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/layouts/table_parameters.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;

class NameFormsTest : public testing::Test {
 protected:
  using Names = std::vector<std::string>;

  std::shared_ptr<Table> open(TableSpec spec) {
    return run_task(store_.open_table(std::move(spec))).value();
  }

  // As another program leaves a name, in its own bytes.
  void leave(const Bytes& name, const std::string& uid) {
    std::vector<RowWrite> rows(2);
    rows[0].row = name;
    rows[0].puts.push_back(CellWrite{Column{0, "metrics"}, from_hex(uid).value(), 0});
    rows[1].row = from_hex(uid).value();
    rows[1].puts.push_back(CellWrite{Column{1, "metrics"}, name, 0});
    ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  }

  // What a row says, in hex; "" = nothing.
  std::string cell(Family family, const Bytes& row) {
    std::vector<RowRead> reads;
    reads.push_back(RowRead{row, family, {"metrics"}});
    const std::vector<Row> rows = run_task(table_->read(std::move(reads))).value();
    return rows.front().cells.empty() ? "" : to_hex(rows.front().cells.front().value);
  }

  static Result<std::uint64_t> uid(UidTable& uids, const std::string& name) {
    const Result<UidTable::NameMapping> found = run_task(uids.find(NameKind::kMetric, name));
    if (!found) return std::unexpected(found.error());
    return found->uid;
  }
  static std::string name(UidTable& uids, std::uint64_t uid) {
    return std::string(run_task(uids.name_of(NameKind::kMetric, uid)).value().name);
  }
  static Names suggested(UidTable& uids, const std::string& prefix, std::size_t max = 100) {
    return run_task(uids.suggest(NameKind::kMetric, prefix, max)).value();
  }

  SystemClock clock_;
  MemoryStore store_{clock_};
  std::shared_ptr<Table> table_ = open(uid_table_spec("tsdb-uid"));
  UidTable opentsdb_{table_, UidWidths(), NameForm::kOpentsdb};
  UidTable mixed_{table_, UidWidths(), NameForm::kMixed};
};

TEST_F(NameFormsTest, OpentsdbsNamesAreReadAndWritten) {
  leave("caf\xE9", "000007");
  EXPECT_EQ(uid(opentsdb_, "café").value(), 7u);
  EXPECT_EQ(name(opentsdb_, 7), "café");
  EXPECT_EQ(run_task(opentsdb_.find_or_assign(NameKind::kMetric, "Zürich")).value().uid, 1u);
  EXPECT_EQ(cell(0, "Z\xFCrich"), "000001");
  EXPECT_EQ(cell(1, from_hex("000001").value()), to_hex("Z\xFCrich"));
  EXPECT_EQ(cell(0, "Zürich"), "");
}

TEST_F(NameFormsTest, WhatHasNoByteIsNobodyElsesName) {
  const Names names = {"é", "Ã©", "Āb", "数", "а", "Ð°"};  // а is Cyrillic: D0 B0 in UTF-8
  std::set<std::uint64_t> ids;
  for (const std::string& one : names) {
    ids.insert(run_task(opentsdb_.find_or_assign(NameKind::kMetric, one)).value().uid);
  }
  EXPECT_EQ(ids.size(), names.size());
  UidTable fresh(table_, UidWidths(), NameForm::kOpentsdb);
  for (const std::string& one : names) {
    EXPECT_EQ(name(fresh, uid(fresh, one).value()), one);
  }
  EXPECT_EQ(cell(0, from_hex("00C48062").value()), "000003");
}

// One name that is too long with its mark keeps back none that came with it.
TEST_F(NameFormsTest, TheMarkCounts) {
  const std::string letter = "Ж";
  const auto ask = [&](std::size_t bytes) {
    std::vector<UidTable::NameRequest> requests = {
        {NameKind::kMetric, letter + std::string(bytes - letter.size(), 'x'), true},
        {NameKind::kMetric, "short", true}};
    return run_task(opentsdb_.resolve(std::move(requests))).value();
  };
  const auto long_one = ask(32767);
  ASSERT_FALSE(long_one[0]);
  EXPECT_EQ(long_one[0].error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(long_one[1]);
  EXPECT_TRUE(ask(32766)[0]);
}

TEST_F(NameFormsTest, SuggestsEveryFormInOneOrder) {
  for (const char* one : {"ab", "aé", "aĀ", "a", "b", "é", "éĀ", "Ā"}) {
    ASSERT_TRUE(run_task(opentsdb_.find_or_assign(NameKind::kMetric, one)));
  }
  EXPECT_EQ(suggested(opentsdb_, "a"), (Names{"a", "ab", "aé", "aĀ"}));
  EXPECT_EQ(suggested(opentsdb_, "a", 3), (Names{"a", "ab", "aé"}));
  EXPECT_EQ(suggested(opentsdb_, "é"), (Names{"é", "éĀ"}));
  EXPECT_EQ(suggested(opentsdb_, "Ā"), (Names{"Ā"}));
  EXPECT_EQ(suggested(opentsdb_, ""), (Names{"a", "ab", "aé", "aĀ", "b", "é", "éĀ", "Ā"}));
}

TEST_F(NameFormsTest, WhatAnEarlierVersionLeftIsFoundAndThenOpentsdbFindsIt) {
  leave("é", "000003");
  leave("Ж", "000004");
  leave("\xE8", "000005");
  EXPECT_EQ(uid(opentsdb_, "é").error().code, Errc::kNotFound);
  EXPECT_EQ(uid(mixed_, "é").value(), 3u);
  EXPECT_EQ(name(mixed_, 4), "Ж");
  EXPECT_EQ(name(mixed_, 5), "è");
  EXPECT_EQ(uid(mixed_, "Ж").value(), 4u);
  EXPECT_EQ(run_task(mixed_.find_or_assign(NameKind::kMetric, "é")).value().uid, 3u);
  EXPECT_EQ(cell(0, "\xE9"), "000003");
  EXPECT_EQ(cell(1, from_hex("000003").value()), "E9");
  EXPECT_EQ(cell(0, "é"), "000003");  // for an earlier version that still runs
  EXPECT_EQ(cell(0, from_hex("00D096").value()), "000004");
  EXPECT_EQ(suggested(mixed_, ""), (Names{"è", "é", "Ж"}));
  EXPECT_EQ(suggested(mixed_, "é"), (Names{"é"}));
  EXPECT_EQ(suggested(mixed_, "Ã"), Names());
}

TEST_F(NameFormsTest, OfTwoIdsOpentsdbsCountsWhicheverIsMetFirst) {
  leave("é", "000003");
  leave("\xE9", "000008");
  EXPECT_EQ(name(mixed_, 3), "é");
  EXPECT_EQ(uid(mixed_, "é").value(), 8u);
  EXPECT_EQ(run_task(mixed_.find_or_assign(NameKind::kMetric, "é")).value().uid, 8u);
  EXPECT_EQ(name(mixed_, 8), "é");
  EXPECT_EQ(cell(1, from_hex("000003").value()), "C3A9");
}

TEST_F(NameFormsTest, RenamesLeaveNoRowOfEitherForm) {
  leave("é", "000003");
  leave("ü", "000004");
  const Result<void> taken = run_task(mixed_.rename(NameKind::kMetric, "é", "ü"));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::kConflict);
  ASSERT_TRUE(run_task(mixed_.rename(NameKind::kMetric, "é", "ö")));
  EXPECT_EQ(cell(0, "é") + cell(0, "\xE9"), "");
  EXPECT_EQ(cell(0, "\xF6"), "000003");
  EXPECT_EQ(cell(1, from_hex("000003").value()), "F6");
  EXPECT_EQ(suggested(mixed_, ""), (Names{"ö", "ü"}));
}

TEST_F(NameFormsTest, ATableThatAnEarlierVersionOpenedIsMixed) {
  const std::shared_ptr<Table> settings = open(settings_table_spec("halite-settings"));
  const auto form = [&](const std::string& uids) {
    return run_task(choose_name_form(settings, uids));
  };
  const auto make = [&](const std::string& data) {
    TableParameters made;
    made.layout = kOpentsdbLayout;
    ASSERT_TRUE(run_task(write_or_compare_parameters(settings, data, made)));
  };
  EXPECT_EQ(form("new-uid").value(), NameForm::kOpentsdb);
  make("tsdb");
  EXPECT_EQ(form("new-uid").value(), NameForm::kOpentsdb);
  // By whichever data table the names table is first opened: another may have come with it.
  EXPECT_EQ(form("tsdb-uid").value(), NameForm::kMixed);
  make("tsdb2");
  EXPECT_EQ(form("tsdb-uid").value(), NameForm::kMixed);
  std::vector<RowWrite> rows(1);
  rows[0].row = "later-uid";
  rows[0].puts.push_back(CellWrite{Column{0, "name-form"}, "utf16", 0});
  ASSERT_TRUE(run_task(settings->write(std::move(rows))));
  EXPECT_EQ(form("later-uid").error().code, Errc::kUnsupported);
}

// Java hashes characters, not bytes: "é" is 233, in bucket 9, "h" is 104, in bucket 8.
TEST(NameOrderTest, GoesByCharactersAsJavaDoes) {
  const std::vector<Tag> tags = {{"é", "x"}, {"h", "x"}, {"a", "x"}};
  EXPECT_EQ(name_order(tags), (std::vector<std::uint32_t>{2, 1, 0}));
}

}  // namespace
}  // namespace halite::storage
