// Additions to counters: in order, once, and refused if a sum does not fit.
#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {
namespace {

using test::run_task;

Bytes sum_bytes(std::uint64_t value) {
  Bytes bytes;
  append_be(bytes, value);
  return bytes;
}

CounterAdd add_of(Bytes row, std::vector<CounterAdd::Delta> deltas, Bytes once = {}) {
  CounterAdd add{.row = std::move(row), .deltas = std::move(deltas)};
  if (!once.empty()) add.once = Column{1, std::move(once)};
  return add;
}

class StoreCounters : public StoreContract {
 protected:
  std::vector<AddOutcome> add(std::vector<CounterAdd> adds) {
    const auto outcomes = run_task(table_->add(std::move(adds)));
    EXPECT_TRUE(outcomes) << outcomes.error().message;
    return outcomes.value_or(std::vector<AddOutcome>());
  }
};
INSTANTIATE_TEST_SUITE_P(Store, StoreCounters, testing::ValuesIn(store_kinds()), kind_name);

TEST_P(StoreCounters, AdditionsOfARowAreAppliedInOrder) {
  using enum AddOutcome;
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 5}, {{0, "y"}, -1}}), add_of("b", {{{0, "x"}, 7}}),
                 add_of("a", {{{0, "x"}, 2}})}),
            (std::vector{kAdded, kAdded, kAdded}));
  EXPECT_EQ(get("a", "x"), sum_bytes(7));
  EXPECT_EQ(get("a", "y"), sum_bytes(static_cast<std::uint64_t>(-1)));
  EXPECT_EQ(get("b", "x"), sum_bytes(7));
  EXPECT_EQ(run_task(table_->increment("a", {0, "x"}, 1)).value(), 8);
  EXPECT_EQ(add({}), std::vector<AddOutcome>());
}

TEST_P(StoreCounters, ARepetitionAddsNothing) {
  using enum AddOutcome;
  const std::vector<CounterAdd> request = {add_of("a", {{{0, "x"}, 5}}, "key"),
                                           add_of("b", {{{0, "x"}, 1}}, "key")};
  EXPECT_EQ(add(request), (std::vector{kAdded, kAdded}));
  EXPECT_EQ(add(request), (std::vector{kRepeated, kRepeated}));
  // A part of it that was not applied before is applied now.
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 5}}, "key"), add_of("c", {{{0, "x"}, 1}}, "key")}),
            (std::vector{kRepeated, kAdded}));
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 5}}, "other")}), std::vector{kAdded});
  EXPECT_EQ(get("a", "x"), sum_bytes(10));
  EXPECT_EQ(get("b", "x"), sum_bytes(1));
  EXPECT_EQ(get("c", "x"), sum_bytes(1));
  if (GetParam().cluster) return;  // its servers have their own clock
  clock_.advance(kShortTtlMs);     // the TTL of the family of `once`
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 5}}, "key")}), std::vector{kAdded});
  EXPECT_EQ(get("a", "x"), sum_bytes(15));
}

TEST_P(StoreCounters, ASumThatDoesNotFitChangesNothingInItsRow) {
  using enum AddOutcome;
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, INT64_MAX - 1}, {{0, "y"}, INT64_MIN}})}),
            std::vector{kAdded});
  EXPECT_EQ(add({add_of("a", {{{0, "z"}, 1}, {{0, "x"}, 2}}, "key"), add_of("b", {{{0, "x"}, 1}})}),
            (std::vector{kOverflow, kAdded}));
  EXPECT_EQ(add({add_of("a", {{{0, "y"}, -1}})}), std::vector{kOverflow});
  EXPECT_EQ(get("a", "x"), sum_bytes(INT64_MAX - 1));
  EXPECT_EQ(get("a", "y"), sum_bytes(static_cast<std::uint64_t>(INT64_MIN)));
  EXPECT_EQ(get("a", "z"), std::nullopt);
  EXPECT_EQ(get("b", "x"), sum_bytes(1));
  // The key of the refused addition was not used up.
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 1}}, "key")}), std::vector{kAdded});
  EXPECT_EQ(get("a", "x"), sum_bytes(INT64_MAX));
}

TEST_P(StoreCounters, AdditionsSeeOtherWritesOfTheCell) {
  using enum AddOutcome;
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 5}})}), std::vector{kAdded});
  ASSERT_TRUE(put("a", "x", sum_bytes(100)));
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 1}})}), std::vector{kAdded});
  EXPECT_EQ(get("a", "x"), sum_bytes(101));
  EXPECT_EQ(run_task(table_->compare_and_put("a", {0, "x"}, sum_bytes(101), sum_bytes(7))).value(),
            CasOutcome::kApplied);
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 1}})}), std::vector{kAdded});
  EXPECT_EQ(get("a", "x"), sum_bytes(8));
  if (GetParam().cluster) return;  // a delete hides what a server adds in the same moment
  std::vector<RowWrite> deletion(1);
  deletion[0].row = "a";
  deletion[0].deletes.push_back({0, "x"});
  ASSERT_TRUE(run_task(table_->write(std::move(deletion))));
  EXPECT_EQ(add({add_of("a", {{{0, "x"}, 1}})}), std::vector{kAdded});
  EXPECT_EQ(get("a", "x"), sum_bytes(1));
}

TEST_P(StoreCounters, OnlyEightBytesAreAddedTo) {
  using enum AddOutcome;
  for (const Bytes& value : {Bytes(), Bytes("1234567"), Bytes("123456789")}) {
    ASSERT_TRUE(put("row", "n", value));
    EXPECT_EQ(add({add_of("row", {{{0, "m"}, 1}, {{0, "n"}, 1}})}), std::vector{kNoCounter});
    EXPECT_EQ(get("row", "n"), value);
    EXPECT_EQ(get("row", "m"), std::nullopt);
  }
}

TEST_P(StoreCounters, BadKeysAndFamiliesAreRefusedBeforeAnythingIsAdded) {
  const auto refused = [this](CounterAdd bad) {
    const auto outcome = run_task(table_->add({add_of("a", {{{0, "x"}, 1}}), std::move(bad)}));
    return !outcome && outcome.error().code == Errc::kInvalidArgument;
  };
  EXPECT_TRUE(refused(add_of("", {{{0, "x"}, 1}})));
  EXPECT_TRUE(refused(add_of("b", {{{2, "x"}, 1}})));
  CounterAdd marked = add_of("b", {{{0, "x"}, 1}});
  marked.once = Column{2, "key"};
  EXPECT_TRUE(refused(std::move(marked)));
  EXPECT_EQ(get("a", "x"), std::nullopt);
}

}  // namespace
}  // namespace halite::storage
