// What the index finds is what looking at every series finds.
#include "storage/catalog/filter_series.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/catalog/index/posting_list.h"
#include "tests/support/sanitized.h"

namespace halite::storage {
namespace {

constexpr UidWidths kPopulationWidths = {.metric = 1, .tag_key = 1, .tag_value = 3};

// Tags with keys k1 to k5; the lower the key the more values it has.
class Names {
 public:
  std::string_view key(std::uint64_t uid) { return name("k", keys_, uid); }
  std::string_view value(std::uint64_t uid) { return name("v", values_, uid); }

 private:
  static std::string_view name(std::string_view kind, std::deque<std::string>& names,
                               std::uint64_t uid) {
    while (names.size() <= uid) names.push_back(fmt::format("{}{}", kind, names.size()));
    return names[uid];
  }
  std::deque<std::string> keys_;
  std::deque<std::string> values_;
};

class Population {
 public:
  explicit Population(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  NewSeries random_series() {
    static constexpr std::uint64_t kValues[] = {0, 5000, 300, 40, 6, 2};
    NewSeries made;
    made.metric_uid = 1 + below(below(3) + 1);
    made.metric = "m";
    append_be_width(made.tsuid, made.metric_uid, 1);
    for (std::uint64_t key = 1; key <= 5; ++key) {
      if (below(8) == 0) continue;
      const std::uint64_t value = below(kValues[key]);
      made.tags.push_back({.key = names_.key(key),
                           .value = names_.value(value),
                           .key_uid = key,
                           .value_uid = value});
      append_be_width(made.tsuid, key, 1);
      append_be_width(made.tsuid, value, 3);
    }
    return made;
  }

  std::vector<std::uint64_t> some_values() {
    std::vector<std::uint64_t> values;
    const std::uint64_t count = below(3) == 0 ? below(200) : below(4);
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(below(below(2) == 0 ? 6 : 5000));
    return values;
  }

  std::string some_literals() {
    std::string text = "none";
    for (const std::uint64_t value : some_values()) text += fmt::format("|v{}", value);
    return text;
  }

  TagFilter some_pattern() {
    switch (below(5)) {
      case 0:
        return {FilterType::kWildcard, "", below(2) == 0 ? "*" : fmt::format("*{}", below(100))};
      case 1:
        return {FilterType::kIWildcard, "", fmt::format("V{}*", below(10))};
      case 2:
        return {FilterType::kRegexp, "", fmt::format("^v[{}-9]+$", below(10))};
      case 3:
        return {FilterType::kNotLiteralOr, "", some_literals()};
      default:
        return {FilterType::kILiteralOr, "", some_literals()};
    }
  }

  std::vector<TagKeyMatcher> some_conditions() {
    std::vector<TagKeyMatcher> matchers;
    for (std::uint64_t key = 1; key <= 6; ++key) {  // nothing has the sixth
      if (below(3) != 0) continue;
      TagKeyMatcher& one = matchers.emplace_back(key);
      if (below(2) == 0) one.want_any_of(some_values());
      if (below(2) == 0) {
        const TagFilter filter = some_pattern();
        one.want_match(TagMatcher::compile(filter, Regexps()).value(),
                       filter.type == FilterType::kRegexp);
      }
      if (below(6) == 0) one.want_absent();
    }
    return matchers;
  }

 private:
  std::mt19937_64 random_;
  Names names_;
};

std::vector<SeriesId> by_looking(const SeriesTable& table, const MembersOf& members,
                                 const TagsWanted& wanted) {
  std::vector<SeriesId> found;
  for (std::size_t i = members.begin; i < members.end; ++i) {
    const SeriesId id = table.of_metric(members.metric_uid, i, 1).front().id;
    if (wanted.matches(table.at(id))) found.push_back(id);
  }
  return found;
}

// On the heap: ThreadSanitizer sees the end of a mutex there, on the stack it does not.
std::unique_ptr<SeriesTable> make_population_table(SeriesId series_max) {
  return std::make_unique<SeriesTable>(SeriesLimits{.series = series_max}, kPopulationWidths);
}

TEST(SelectMembers, FindsWhatLookingAtEachFinds) {
  std::size_t asked = 0;
  std::size_t found_some = 0;
  for (std::uint64_t seed = 1; seed <= 8; seed += test::step(1, 3)) {
    SCOPED_TRACE(seed);
    Population people(seed);
    const std::unique_ptr<SeriesTable> held = make_population_table(100'000);
    SeriesTable& table = *held;
    const std::uint64_t size = seed % 4 == 0 ? 30 : 3000;
    for (int round = 0; round < 4; ++round) {
      for (std::uint64_t i = 0; i < size; ++i) ASSERT_TRUE(table.add(people.random_series()));
      for (int question = 0; question < 60; ++question) {
        const std::vector<TagKeyMatcher> matchers = people.some_conditions();
        TagsWanted wanted{.matchers = matchers, .tags_exactly = std::nullopt};
        if (people.below(4) == 0) wanted.tags_exactly = people.below(6);
        MembersOf members{.metric_uid = 1 + people.below(4), .begin = 0, .end = 0};
        members.end = table.count_of_metric(members.metric_uid);
        if (people.below(3) == 0 && members.end > 0) {
          members.begin = people.below(members.end);
          members.end -= people.below(members.end - members.begin + 1);
        }
        const auto found = filter_series(table, members, wanted, nullptr);
        ++asked;
        ASSERT_TRUE(found);
        EXPECT_EQ(*found, by_looking(table, members, wanted));
        if (!found->empty()) ++found_some;
      }
    }
  }
  EXPECT_GT(found_some * 6, asked);  // more than one of six find something
}

// One thread's series are in what it asks for at once, whatever others add.
TEST(SelectMembers, WhatWasAddedIsFoundWhileOthersAdd) {
  const std::unique_ptr<SeriesTable> held = make_population_table(200'000);
  SeriesTable& table = *held;
  std::atomic<std::size_t> missed{0};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&table, &missed, thread] {
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::uint64_t host = (i * 4) + thread;
        NewSeries made;
        made.metric_uid = 1;
        made.metric = "m";
        append_be_width(made.tsuid, 1, 1);
        for (const auto& [key, value] :
             {std::pair<std::uint64_t, std::uint64_t>{1, host}, {2, host % 7}}) {
          made.tags.push_back({.key = "k", .value = "v", .key_uid = key, .value_uid = value});
          append_be_width(made.tsuid, key, 1);
          append_be_width(made.tsuid, value, 3);
        }
        const Result<SeriesId> id = table.add(made);
        std::vector<TagKeyMatcher> matchers;
        matchers.emplace_back(1).want_any_of({host});
        if (i % 2 == 0) matchers.emplace_back(2).want_any_of({host % 7});
        const MembersOf all{.metric_uid = 1, .begin = 0, .end = table.count_of_metric(1)};
        const auto found = filter_series(
            table, all, {.matchers = matchers, .tags_exactly = std::nullopt}, nullptr);
        if (!id || !found || *found != std::vector<SeriesId>{*id}) ++missed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missed, 0U);
  EXPECT_EQ(table.count_of_metric(1), 8000U);
}

TEST(SelectMembers, GivesUpWhenTheWatchSaysSo) {
  class Stopped final : public WorkBudget {
   public:
    [[nodiscard]] Result<void> check() const override { return fail(Errc::kCancelled, "enough"); }
    [[nodiscard]] Result<void> check_series(std::uint64_t) const override { return {}; }
    [[nodiscard]] Result<void> add_bytes(std::int64_t) override { return {}; }
  };
  Population people(1);
  const std::unique_ptr<SeriesTable> held = make_population_table(100);
  SeriesTable& table = *held;
  NewSeries one = people.random_series();
  ASSERT_TRUE(table.add(one));
  const Stopped budget;
  const auto found =
      filter_series(table, {.metric_uid = one.metric_uid, .begin = 0, .end = 1}, {}, &budget);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kCancelled);
}

TEST(PostingList, HoldWhatWasAddedInWhateverForm) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0, 1, 2, 3, 63, 64, 65, 5000}) {
    SCOPED_TRACE(count);
    PostingList postings;
    std::vector<TagSetId> ids;
    while (ids.size() < count) {
      const auto id = static_cast<TagSetId>(ids.empty() || random() % 4 == 0 ? random() % 100'000
                                                                             : ids.back() + 1);
      postings.add(id);
      postings.add(id);
      if (!std::ranges::count(ids, id)) ids.push_back(id);
      ASSERT_EQ(postings.size(), ids.size());
    }
    IdSet expected(ids.size(), ids.data());
    IdSet all;
    postings.add_to(all);
    EXPECT_TRUE(all == expected);
    IdSet some;
    some.addRange(0, 50'000);
    expected &= some;
    some &= all;
    EXPECT_TRUE(some == expected);
  }
}

TEST(PostingList, TakesManyIdsAsOneByOne) {
  for (const TagSetId before : {0U, 1U, 2U, 63U, 64U, 65U, 300U}) {
    for (const TagSetId more : {0U, 1U, 2U, 64U, 5000U}) {
      PostingList postings;
      IdSet expected;
      for (TagSetId id = 0; id < before; ++id) {
        postings.add(id * 20);
        expected.add(id * 20);
      }
      std::vector<TagSetId> ids;  // between those before, and after them
      for (TagSetId id = 0; id < more; ++id) ids.push_back(id * 10 + 5);
      postings.add(ids);
      expected.addMany(ids.size(), ids.data());
      IdSet all;
      postings.add_to(all);
      EXPECT_TRUE(all == expected) << before << ' ' << more;
      EXPECT_EQ(postings.size(), before + more);
    }
  }
}

}  // namespace
}  // namespace halite::storage
