#include "storage/catalog/names/uid_table.h"

#include <map>
#include <random>
#include <set>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "common/gather.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/catalog/names/name_kind.h"

namespace halite::storage {
namespace {

namespace asio = boost::asio;
using NameMapping = UidTable::NameMapping;

// A table whose compare-and-puts lose every so many answers: applied or not, nobody says.
class ForgetfulTable final : public Table {
 public:
  ForgetfulTable(std::shared_ptr<Table> inner, int forget_every)
      : inner_(std::move(inner)), forget_every_(forget_every) {}

  Task<void> write(std::vector<RowWrite> rows) override { return inner_->write(std::move(rows)); }
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override {
    return inner_->read(std::move(reads));
  }
  std::unique_ptr<Scanner> scan(ScanSpec spec, const ReadContext& context) override {
    return inner_->scan(std::move(spec), context);
  }
  Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) override {
    return inner_->increment(std::move(row), std::move(column), delta);
  }
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override {
    const int count = ++count_;
    if (count % forget_every_ != 0) {
      co_return co_await inner_->compare_and_put(row, column, expected, value);
    }
    if (count % 2 == 0) {
      const auto outcome = co_await inner_->compare_and_put(row, column, expected, value);
      if (!outcome) co_return std::unexpected(outcome.error());
    }
    co_return CasOutcome::kUnknown;
  }

 private:
  const std::shared_ptr<Table> inner_;
  const int forget_every_;
  std::atomic<int> count_ = 0;
};

class UidTableTest : public testing::Test {
 protected:
  template <class T>
  Result<T> run(Task<T> task) {
    return asio::co_spawn(pool_, std::move(task), asio::use_future).get();
  }

  // Every cell of one family as (row, kind, value).
  std::map<std::pair<Bytes, Bytes>, Bytes> cells(Family family) {
    ScanSpec spec;
    spec.family = family;
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
    std::map<std::pair<Bytes, Bytes>, Bytes> found;
    for (;;) {
      const std::vector<Row> rows = run(scanner->next(ScanLimit())).value();
      if (rows.empty()) return found;
      for (const Row& row : rows) {
        for (const Cell& cell : row.cells) found[{row.key, cell.qualifier}] = cell.value;
      }
    }
  }

  std::string error(Result<NameMapping> result) { return result ? "" : result.error().message; }

  SystemClock clock_;
  asio::thread_pool pool_{4};
  MemoryStore store_{clock_};
  std::shared_ptr<Table> table_ = run(store_.open_table(uid_table_spec("tsdb-uid"))).value();
};

TEST_F(UidTableTest, WritesOpentsdbsCells) {
  UidTable uids(table_, UidWidths());
  EXPECT_EQ(run(uids.find_or_assign(NameKind::kMetric, "sys.cpu"))->uid, 1u);
  EXPECT_EQ(run(uids.find_or_assign(NameKind::kMetric, "sys.mem"))->uid, 2u);
  EXPECT_EQ(run(uids.find_or_assign(NameKind::kTagKey, "host"))->uid, 1u);
  EXPECT_EQ(run(uids.find_or_assign(NameKind::kTagValue, "sys.cpu"))->uid, 1u);
  EXPECT_EQ(run(uids.find_or_assign(NameKind::kMetric, "sys.cpu"))->uid, 1u);

  const Bytes zero(1, '\0');
  const std::map<std::pair<Bytes, Bytes>, Bytes> ids = {
      {{zero, "metrics"}, from_hex("0000000000000002").value()},
      {{zero, "tagk"}, from_hex("0000000000000001").value()},
      {{zero, "tagv"}, from_hex("0000000000000001").value()},
      {{"host", "tagk"}, from_hex("000001").value()},
      {{"sys.cpu", "metrics"}, from_hex("000001").value()},
      {{"sys.cpu", "tagv"}, from_hex("000001").value()},
      {{"sys.mem", "metrics"}, from_hex("000002").value()}};
  EXPECT_EQ(cells(0), ids);
  const Bytes one = from_hex("000001").value();
  const std::map<std::pair<Bytes, Bytes>, Bytes> names = {
      {{one, "metrics"}, "sys.cpu"},
      {{one, "tagk"}, "host"},
      {{one, "tagv"}, "sys.cpu"},
      {{from_hex("000002").value(), "metrics"}, "sys.mem"}};
  EXPECT_EQ(cells(1), names);
}

TEST_F(UidTableTest, FindsWhatAnotherWrote) {
  UidTable writer(table_, UidWidths());
  UidTable reader(table_, UidWidths());
  EXPECT_EQ(error(run(reader.find(NameKind::kTagKey, "host"))), "No such name for 'tagk': 'host'");
  EXPECT_EQ(error(run(reader.name_of(NameKind::kTagKey, 1))),
            "No such unique ID for 'tagk': [0, 0, 1]");
  ASSERT_TRUE(run(writer.find_or_assign(NameKind::kTagKey, "host")));
  EXPECT_EQ(reader.cached(NameKind::kTagKey, "host"), nullptr);
  EXPECT_EQ(run(reader.find(NameKind::kTagKey, "host"))->uid, 1u);
  ASSERT_NE(reader.cached(NameKind::kTagKey, 1), nullptr);
  EXPECT_EQ(reader.cached(NameKind::kTagKey, 1)->name, "host");
  EXPECT_EQ(run(reader.name_of(NameKind::kTagKey, 1))->name, "host");
}

TEST_F(UidTableTest, UnknownIdsShowSignedBytes) {
  UidTable uids(table_, UidWidths{4, 3, 3});
  const Result<NameMapping> found = run(uids.name_of(NameKind::kMetric, 0x00FF8001));
  EXPECT_EQ(error(found), "No such unique ID for 'metrics': [0, -1, -128, 1]");
  EXPECT_EQ(found.error().code, Errc::kNotFound);
}

TEST_F(UidTableTest, RunsOutOfIds) {
  UidTable uids(table_, UidWidths{1, 3, 3});
  for (int i = 0; i < 255; ++i) {
    ASSERT_TRUE(run(uids.find_or_assign(NameKind::kMetric, "m" + std::to_string(i)))) << i;
  }
  const Result<NameMapping> more = run(uids.find_or_assign(NameKind::kMetric, "m255"));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::kTooLarge);
  EXPECT_EQ(more.error().message, "All Unique IDs for metrics on 1 bytes are already assigned!");
  EXPECT_EQ(run(uids.find_or_assign(NameKind::kMetric, "m7"))->uid, 8u);
  EXPECT_FALSE(run(uids.find(NameKind::kMetric, "m255")));
}

TEST_F(UidTableTest, RefusesImpossibleNames) {
  UidTable uids(table_, UidWidths());
  for (const std::string& name : {std::string(), std::string(1, '\0'), std::string(32768, 'x')}) {
    const Result<NameMapping> made = run(uids.find_or_assign(NameKind::kMetric, name));
    ASSERT_FALSE(made) << name.size();
    EXPECT_EQ(made.error().code, Errc::kInvalidArgument);
  }
  EXPECT_TRUE(run(uids.find_or_assign(NameKind::kMetric, std::string(32767, 'x'))));
}

TEST_F(UidTableTest, AnIdOfAnotherWidthIsReported) {
  ASSERT_TRUE(run(UidTable(table_, UidWidths{4, 3, 3}).find_or_assign(NameKind::kMetric, "m")));
  UidTable uids(table_, UidWidths());
  const Result<NameMapping> found = run(uids.find(NameKind::kMetric, "m"));
  EXPECT_EQ(error(found), "Found id.length = 4 which is != 3 required for 'metrics'");
}

TEST_F(UidTableTest, BatchesKeepTheirOrder) {
  UidTable uids(table_, UidWidths());
  std::vector<UidTable::NameRequest> requests;
  for (const char* name : {"b", "a", "b", "c"}) {
    requests.push_back({NameKind::kTagValue, name, true});
  }
  requests.push_back({NameKind::kTagKey, "unknown", false});
  requests.push_back({NameKind::kTagKey, "", true});
  const auto entries = run(uids.resolve(std::move(requests))).value();
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(entries[0]->uid, 1u);
  EXPECT_EQ(entries[1]->uid, 2u);
  EXPECT_EQ(entries[2]->uid, 1u);
  EXPECT_EQ(entries[3]->uid, 3u);
  EXPECT_EQ(entries[4].error().message, "No such name for 'tagk': 'unknown'");
  EXPECT_EQ(entries[5].error().code, Errc::kInvalidArgument);
}

TEST_F(UidTableTest, AssignRefusesWhatExists) {
  UidTable uids(table_, UidWidths());
  EXPECT_EQ(run(uids.assign(NameKind::kMetric, "m"))->uid, 1u);
  const Result<NameMapping> again = run(uids.assign(NameKind::kMetric, "m"));
  EXPECT_EQ(error(again), "Name already exists with UID: 000001");
  EXPECT_EQ(again.error().code, Errc::kConflict);
}

TEST_F(UidTableTest, RenameMovesTheName) {
  UidTable uids(table_, UidWidths());
  ASSERT_TRUE(run(uids.assign(NameKind::kMetric, "old")));
  ASSERT_TRUE(run(uids.assign(NameKind::kMetric, "other")));
  EXPECT_EQ(run(uids.rename(NameKind::kMetric, "old", "other")).error().code, Errc::kConflict);
  EXPECT_EQ(run(uids.rename(NameKind::kMetric, "none", "new")).error().message,
            "No such name for 'metrics': 'none'");
  ASSERT_TRUE(run(uids.rename(NameKind::kMetric, "old", "new")));
  UidTable fresh(table_, UidWidths());
  for (UidTable* each : {&uids, &fresh}) {
    EXPECT_EQ(run(each->find(NameKind::kMetric, "new"))->uid, 1u);
    EXPECT_EQ(run(each->name_of(NameKind::kMetric, 1))->name, "new");
    EXPECT_EQ(error(run(each->find(NameKind::kMetric, "old"))),
              "No such name for 'metrics': 'old'");
  }
  EXPECT_EQ(run(uids.find_or_assign(NameKind::kMetric, "old"))->uid, 3u);
}

TEST_F(UidTableTest, SuggestsByPrefixInByteOrder) {
  UidTable uids(table_, UidWidths());
  for (const char* name : {"sys.mem", "sys.cpu", "Sys", "sys", "t", "\xC3\xA9", "!x", "~y"}) {
    ASSERT_TRUE(run(uids.find_or_assign(NameKind::kMetric, name)));
  }
  ASSERT_TRUE(run(uids.find_or_assign(NameKind::kTagKey, "sys.key")));
  using Names = std::vector<std::string>;
  EXPECT_EQ(run(uids.suggest(NameKind::kMetric, "sys", 10)).value(),
            (Names{"sys", "sys.cpu", "sys.mem"}));
  EXPECT_EQ(run(uids.suggest(NameKind::kMetric, "sys", 2)).value(), (Names{"sys", "sys.cpu"}));
  EXPECT_EQ(run(uids.suggest(NameKind::kMetric, "", 10)).value(),
            (Names{"!x", "Sys", "sys", "sys.cpu", "sys.mem", "t", "~y", "\xC3\xA9"}));
  EXPECT_EQ(run(uids.suggest(NameKind::kMetric, "\xC3", 10)).value(), (Names{"\xC3\xA9"}));
  EXPECT_EQ(run(uids.suggest(NameKind::kTagKey, "", 10)).value(), (Names{"sys.key"}));
  EXPECT_EQ(run(uids.suggest(NameKind::kTagValue, "", 10)).value(), Names());
  EXPECT_EQ(run(uids.suggest(NameKind::kMetric, std::string(1, '\0'), 10)).value(), Names());
  EXPECT_EQ(run(uids.suggest(NameKind::kMetric, "sys", 0)).value(), Names());
}

// Half of the work asks for names one by one, half in batches; all from one small set.
Task<std::uint64_t> ask(UidTable& uids, std::uint32_t seed, std::uint32_t names) {
  std::mt19937 random(seed);
  std::uint64_t wrong = 0;
  for (int round = 0; round < 10; ++round) {
    std::vector<UidTable::NameRequest> requests;
    for (int i = 0; i < 5; ++i) {
      requests.push_back(
          {static_cast<NameKind>(random() % 3), "n" + std::to_string(random() % names), true});
    }
    if (round % 2 == 0) {
      CO_TRY(const auto entries, co_await uids.resolve(requests));
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!entries[i]) co_return std::unexpected(entries[i].error());
        if (entries[i]->name != requests[i].name) ++wrong;
      }
    } else {
      CO_TRY(const NameMapping entry,
             co_await uids.find_or_assign(requests[0].kind, requests[0].name));
      if (entry.name != requests[0].name) ++wrong;
    }
  }
  co_return wrong;
}

void expect_consistent(const std::map<std::pair<Bytes, Bytes>, Bytes>& ids,
                       const std::map<std::pair<Bytes, Bytes>, Bytes>& names) {
  std::set<std::pair<Bytes, Bytes>> used;
  for (const auto& [name, id] : ids) {
    if (name.first == std::string(1, '\0')) continue;
    EXPECT_TRUE(used.emplace(name.second, id).second) << "id twice: " << to_hex(id);
    const auto back = names.find({id, name.second});
    ASSERT_NE(back, names.end()) << name.first;
    EXPECT_EQ(back->second, name.first);
  }
}

TEST_F(UidTableTest, ManyCallersAndTwoProcessesAgree) {
  constexpr std::uint32_t kNames = 300;
  const auto forgetful = std::make_shared<ForgetfulTable>(table_, 7);
  UidTable first(forgetful, UidWidths());
  UidTable second(forgetful, UidWidths());
  std::vector<Task<std::uint64_t>> tasks;
  for (std::uint32_t i = 0; i < 200; ++i) {
    tasks.push_back(ask(i % 2 == 0 ? first : second, i, kNames));
  }
  const auto outcomes = asio::co_spawn(pool_, gather(std::move(tasks), 50), asio::use_future).get();
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(*outcome, 0u);
  }
  const auto ids = cells(0);
  expect_consistent(ids, cells(1));
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    for (std::uint32_t i = 0; i < kNames; ++i) {
      const std::string name = "n" + std::to_string(i);
      const NameMapping* one = first.cached(kind, name);
      const NameMapping* two = second.cached(kind, name);
      if (one == nullptr || two == nullptr) continue;
      EXPECT_EQ(one->uid, two->uid) << name;
    }
  }
}

TEST_F(UidTableTest, WatchersAreToldOfWhatChangedHere) {
  UidTable uids(table_, UidWidths());
  UidTable other(table_, UidWidths());
  std::vector<std::string> told;
  const auto note = [&told](std::string_view what) {
    return [&told, what](NameKind kind, const NameMapping& entry) {
      told.push_back(std::string(what) + " " + std::string(name_kind_text(kind)) + " " +
                     std::string(entry.name) + " " + std::to_string(entry.uid));
    };
  };
  uids.watch({.assigned = note("assigned"), .renamed = note("renamed")});
  uids.watch({.assigned = {}, .renamed = {}});
  ASSERT_TRUE(run(other.find_or_assign(NameKind::kTagKey, "host")));
  ASSERT_TRUE(run(uids.find_or_assign(NameKind::kTagKey, "host")));
  ASSERT_TRUE(run(uids.find_or_assign(NameKind::kTagKey, "dc")));
  ASSERT_TRUE(run(uids.find_or_assign(NameKind::kTagKey, "dc")));
  ASSERT_TRUE(run(uids.rename(NameKind::kTagKey, "host", "server")));
  EXPECT_FALSE(run(uids.rename(NameKind::kTagKey, "host", "again")));
  EXPECT_EQ(told, (std::vector<std::string>{"assigned tagk dc 2", "renamed tagk server 1"}));
}

TEST_F(UidTableTest, OneProcessLeaksNoIds) {
  UidTable uids(table_, UidWidths());
  std::vector<Task<NameMapping>> tasks;
  for (int i = 0; i < 500; ++i) {
    tasks.push_back(uids.find_or_assign(NameKind::kMetric, "m" + std::to_string(i % 5)));
  }
  const auto outcomes =
      asio::co_spawn(pool_, gather(std::move(tasks), 100), asio::use_future).get();
  for (const auto& outcome : outcomes) ASSERT_TRUE(outcome);
  const auto counter = cells(0).at({std::string(1, '\0'), "metrics"});
  EXPECT_EQ(to_hex(counter), "0000000000000005");
}

}  // namespace
}  // namespace halite::storage
