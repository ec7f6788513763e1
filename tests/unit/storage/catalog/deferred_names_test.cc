#include "storage/catalog/names/deferred_names.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/catalog/names/name_kind.h"
#include "storage/catalog/names/uid_table.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;

// What a log would hold, as "metrics 1 sys.cpu".
class ListedNames final : public NameLog {
 public:
  Result<void> append(std::span<const NewName> names) override {
    const std::lock_guard lock(mutex_);
    if (refuses) return fail(Errc::kUnavailable, "the disk is full");
    for (const NewName& name : names) {
      lines.push_back(fmt::format("{} {} {}", name_kind_text(name.kind), name.uid, name.name));
      logged.push_back({.kind = name.kind, .uid = name.uid, .name = std::string(name.name)});
    }
    return {};
  }
  Task<void> durable() override {
    ++waits;
    co_return Result<void>();
  }

  std::vector<std::string> lines;
  std::vector<LoggedName> logged;
  int waits = 0;
  bool refuses = false;

 private:
  std::mutex mutex_;
};

class DeferredNamesTest : public testing::Test {
 protected:
  std::unique_ptr<UidTable> open(UidWidths widths = {}) {
    auto uids = std::make_unique<UidTable>(table_, widths);
    uids->defer(log_);
    return uids;
  }
  Result<void> restore() {
    auto names = run_task(names_without_rows(table_, {}, log_.logged));
    if (!names) return std::unexpected(names.error());
    return run_task(write_logged_names(table_, {}, *std::move(names)));
  }
  static std::uint64_t uid(UidTable& uids, const std::string& name) {
    const auto entry = run_task(uids.find_or_assign(NameKind::kMetric, name));
    EXPECT_TRUE(entry) << entry.error().message;
    return entry ? entry->uid : 0;
  }
  // "row:kind=value" of one family, ids and counters in hex.
  std::set<std::string> cells(Family family) {
    ScanSpec spec;
    spec.family = family;
    const auto scanner = table_->scan(std::move(spec), {});
    std::set<std::string> found;
    for (;;) {
      const auto rows = run_task(scanner->next({})).value();
      if (rows.empty()) return found;
      for (const Row& row : rows) {
        for (const Cell& cell : row.cells) {
          const bool by_name = family == 0 && row.key.size() > 1;
          found.insert((by_name ? row.key : to_hex(row.key)) + ":" + cell.qualifier + "=" +
                       (family == 0 ? to_hex(cell.value) : cell.value));
        }
      }
    }
  }
  using Texts = std::set<std::string>;

  const SystemClock clock_;
  MemoryStore store_{clock_};
  std::shared_ptr<Table> table_ = run_task(store_.open_table(uid_table_spec("tsdb-uid"))).value();
  ListedNames log_;
};

TEST_F(DeferredNamesTest, ANameIsInTheLogAtOnceAndInTheTableWhenItSettles) {
  const auto uids = open();
  EXPECT_EQ(uid(*uids, "ab"), 1);
  EXPECT_EQ(uid(*uids, "cd"), 2);
  EXPECT_EQ(uid(*uids, "ab"), 1);
  EXPECT_EQ(log_.lines, (std::vector<std::string>{"metrics 1 ab", "metrics 2 cd"}));
  EXPECT_EQ(cells(1), Texts());
  ASSERT_TRUE(run_task(uids->flush_rows()));
  ASSERT_TRUE(run_task(uids->give_back()));
  EXPECT_EQ(cells(0),
            (Texts{"ab:metrics=000001", "cd:metrics=000002", "00:metrics=0000000000000002"}));
  EXPECT_EQ(cells(1), (Texts{"000001:metrics=ab", "000002:metrics=cd"}));
}

TEST_F(DeferredNamesTest, WhoeverAsksForItGetsItDurable) {
  const auto uids = open();
  EXPECT_EQ(uid(*uids, "ab"), 1);
  EXPECT_EQ(log_.waits, 1);
  ASSERT_TRUE(run_task(uids->resolve_logged({{NameKind::kMetric, "cd", true}})));
  EXPECT_EQ(log_.waits, 1);
  ASSERT_TRUE(run_task(uids->resolve({{NameKind::kMetric, "cd", true}})));
  EXPECT_EQ(log_.waits, 2);  // that of another, too
  ASSERT_TRUE(run_task(uids->flush_rows()));
  ASSERT_TRUE(run_task(uids->resolve({{NameKind::kMetric, "cd", true}})));
  EXPECT_EQ(log_.waits, 2);
}

TEST_F(DeferredNamesTest, ACrashSkipsTheRestOfABlockAndACloseDoesNot) {
  EXPECT_EQ(uid(*open(), "a"), 1);
  log_.logged.clear();
  const auto uids = open();
  const std::uint64_t after_crash = uid(*uids, "b");
  EXPECT_GT(after_crash, 1);
  EXPECT_EQ(uid(*uids, "c"), after_crash + 1);
  ASSERT_TRUE(run_task(uids->flush_rows()));
  ASSERT_TRUE(run_task(uids->give_back()));
  EXPECT_EQ(uid(*open(), "d"), after_crash + 2);
}

TEST_F(DeferredNamesTest, ManyNamesTakeOneIdEachWithoutAGap) {
  const auto uids = open();
  std::vector<UidTable::NameRequest> requests;
  for (int i = 0; i < 20'000; ++i) {
    requests.push_back({NameKind::kTagValue, fmt::format("v{}", i % 15'000), true});
  }
  const auto entries = run_task(uids->resolve(std::move(requests)));
  ASSERT_TRUE(entries);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    ASSERT_EQ(entries->at(i)->uid, i % 15'000 + 1);
  }
  ASSERT_TRUE(run_task(uids->flush_rows()));
  EXPECT_EQ(cells(1).size(), 15'000);
}

TEST_F(DeferredNamesTest, WhatTheLogRefusesNobodySees) {
  const auto uids = open();
  log_.refuses = true;
  EXPECT_FALSE(run_task(uids->find_or_assign(NameKind::kMetric, "ab")));
  EXPECT_EQ(uids->cached(NameKind::kMetric, "ab"), nullptr);
  log_.refuses = false;
  EXPECT_EQ(uid(*uids, "ab"), 1);
}

TEST_F(DeferredNamesTest, RunsOutOfIds) {
  const auto uids = open(UidWidths{1, 3, 3});
  for (std::uint64_t i = 1; i <= 255; ++i) ASSERT_EQ(uid(*uids, fmt::format("m{}", i)), i);
  for (int i = 0; i < 2; ++i) {
    const auto full = run_task(uids->find_or_assign(NameKind::kMetric, "more"));
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().message, "All Unique IDs for metrics on 1 bytes are already assigned!");
  }
  EXPECT_EQ(uid(*uids, "m7"), 7);
}

TEST_F(DeferredNamesTest, TableReadersSeeWhatWaits) {
  const auto uids = open();
  EXPECT_EQ(uid(*uids, "ab"), 1);
  EXPECT_EQ(run_task(uids->suggest(NameKind::kMetric, "a", 10)).value(),
            std::vector<std::string>{"ab"});
  EXPECT_EQ(uid(*uids, "cd"), 2);
  const auto taken = run_task(uids->rename(NameKind::kMetric, "ab", "cd"));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::kConflict);
  ASSERT_TRUE(run_task(uids->rename(NameKind::kMetric, "cd", "ef")));
  UidTable other(table_, {});
  EXPECT_EQ(run_task(other.find(NameKind::kMetric, "ef"))->uid, 2);
  EXPECT_EQ(run_task(other.find(NameKind::kMetric, "ab"))->uid, 1);
}

Task<UidTable::NameMapping> rename_and_find(UidTable& uids, std::string from, std::string to) {
  CO_TRY_VOID(co_await uids.rename(NameKind::kMetric, from, to));
  co_return co_await uids.find(NameKind::kMetric, to);
}

TEST_F(DeferredNamesTest, RenamesAndNewNamesOfOneTextGiveItOneId) {
  for (int round = 0; round < 20; ++round) {
    const auto uids = open();
    const std::string old_name = fmt::format("old{}", round);
    const std::string new_name = fmt::format("new{}", round);
    const std::uint64_t old_uid = uid(*uids, old_name);
    std::vector<Task<UidTable::NameMapping>> tasks;
    tasks.push_back(rename_and_find(*uids, old_name, new_name));
    tasks.push_back(uids->find_or_assign(NameKind::kMetric, new_name));
    const auto outcomes = test::run_tasks(std::move(tasks), 2);
    ASSERT_TRUE(outcomes[1]) << outcomes[1].error().message;
    if (outcomes[0]) {
      EXPECT_EQ(outcomes[1]->uid, old_uid);
    } else {
      EXPECT_NE(outcomes[1]->uid, old_uid);
    }
    ASSERT_TRUE(run_task(uids->flush_rows()));
    UidTable other(table_, {});
    EXPECT_EQ(run_task(other.find(NameKind::kMetric, new_name))->uid, outcomes[1]->uid);
    EXPECT_EQ(run_task(other.name_of(NameKind::kMetric, outcomes[1]->uid))->name, new_name);
  }
}

TEST_F(DeferredNamesTest, RestoringWritesWhatIsMissingAndUndoesNoRename) {
  const auto uids = open();
  EXPECT_EQ(uid(*uids, "ab"), 1);
  ASSERT_TRUE(run_task(uids->rename(NameKind::kMetric, "ab", "xy")));
  EXPECT_EQ(uid(*uids, "ab"), 2);  // in the log alone
  EXPECT_EQ(uid(*uids, "cd"), 3);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(restore());
    EXPECT_EQ(cells(1), (Texts{"000001:metrics=xy", "000002:metrics=ab", "000003:metrics=cd"}));
    EXPECT_EQ(cells(0).size(), 4);
    EXPECT_TRUE(cells(0).contains("ab:metrics=000002"));
    EXPECT_TRUE(cells(0).contains("xy:metrics=000001"));
  }
}

TEST_F(DeferredNamesTest, RestoredNamesAreFoundBeforeTheyHaveRows) {
  const auto before = open();
  EXPECT_EQ(uid(*before, "a"), 1);
  ASSERT_TRUE(run_task(before->flush_rows()));
  EXPECT_EQ(uid(*before, "b"), 2);
  const auto names = run_task(names_without_rows(table_, {}, log_.logged)).value();
  ASSERT_EQ(names.size(), 1);
  EXPECT_EQ(names.front().name, "b");
  const auto after = open();
  after->restore(names, {});
  EXPECT_EQ(uid(*after, "b"), 2);
  EXPECT_EQ(run_task(after->name_of(NameKind::kMetric, 2))->name, "b");
  EXPECT_EQ(cells(1), Texts{"000001:metrics=a"});
  ASSERT_TRUE(run_task(after->flush_rows()));
  EXPECT_EQ(cells(1), (Texts{"000001:metrics=a", "000002:metrics=b"}));
  EXPECT_GT(uid(*after, "c"), 2);
}

TEST_F(DeferredNamesTest, PartsOfRestoredNamesAreAllOfThem) {
  constexpr std::size_t kParts = 3;
  std::vector<LoggedName> names;
  for (std::uint64_t id = 1; id <= 20; ++id) {
    names.push_back({.kind = NameKind::kMetric, .uid = id, .name = std::to_string(id)});
  }
  const auto uids = open();
  for (std::size_t part = 0; part < kParts; ++part) {
    uids->restore(names, {.number = part, .count = kParts});
  }
  for (const LoggedName& name : names) EXPECT_EQ(uid(*uids, name.name), name.uid);
  ASSERT_TRUE(run_task(uids->flush_rows()));
  EXPECT_EQ(cells(1).size(), names.size());
}

TEST_F(DeferredNamesTest, RestoringRaisesACounterThatFellBehind) {
  const auto uids = open();
  for (const char* const name : {"a", "b", "c"}) uid(*uids, name);
  table_ = run_task(store_.open_table(uid_table_spec("another"))).value();
  ASSERT_TRUE(restore());
  const auto after = open();
  EXPECT_EQ(uid(*after, "d"), 4);
  EXPECT_EQ(uid(*after, "b"), 2);
}

TEST_F(DeferredNamesTest, WhatNobodyLoggedIsRefused) {
  const auto code_of = [this](LoggedName name) {
    return run_task(names_without_rows(table_, {}, {std::move(name)})).error().code;
  };
  EXPECT_EQ(code_of({static_cast<NameKind>(3), 1, "a"}), Errc::kCorruption);
  EXPECT_EQ(code_of({NameKind::kMetric, 0, "a"}), Errc::kCorruption);
  EXPECT_EQ(code_of({NameKind::kMetric, 1 << 24, "a"}), Errc::kCorruption);
  EXPECT_EQ(code_of({NameKind::kMetric, 1, ""}), Errc::kCorruption);
}

}  // namespace
}  // namespace halite::storage
