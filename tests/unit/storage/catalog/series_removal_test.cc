// Series leave the table and others come in their place: what is found is always what is there.
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/catalog/epochs.h"
#include "storage/catalog/filter_series.h"
#include "storage/catalog/series_page.h"
#include "storage/catalog/series_table.h"

namespace halite::storage {
namespace {

constexpr UidWidths kRemovalWidths = {.metric = 1, .tag_key = 1, .tag_value = 2};

TEST(Epochs, AnEpochEndsWithItsLastPin) {
  Epochs epochs;
  auto first = epochs.pin();
  const auto second = epochs.pin();
  const std::uint64_t epoch = epochs.advance();
  EXPECT_LT(first->epoch, epoch);
  EXPECT_FALSE(epochs.released_before(epoch));
  first.reset();
  EXPECT_FALSE(epochs.released_before(epoch));
  EXPECT_EQ(epochs.pin()->epoch, epoch);
  EXPECT_TRUE(Epochs().released_before(1));
}

TEST(Epochs, NewPinsKeepNobodyWaiting) {
  Epochs epochs;
  auto old = epochs.pin();
  const std::uint64_t epoch = epochs.advance();
  const auto young = epochs.pin();
  old.reset();
  EXPECT_TRUE(epochs.released_before(epoch));
  EXPECT_FALSE(epochs.released_before(epoch + 1));
}

TEST(Epochs, APinMayOutliveThem) {
  auto epochs = std::make_unique<Epochs>();
  const auto pin = epochs->pin();
  epochs.reset();
  EXPECT_EQ(pin->epoch, 1U);
}

TEST(PostingList, RemovingIsTheOppositeOfAdding) {
  std::mt19937 random(7);
  PostingList postings;
  std::set<TagSetId> expected;
  for (int step = 0; step < 20'000; ++step) {
    // Grows past what an array holds, and shrinks to nothing, several times.
    const bool grow = step / 500 % 2 == 0;
    const TagSetId id = random() % 200;
    if (random() % 4 < (grow ? 3U : 1U)) {
      postings.add(id);
      expected.insert(id);
    } else {
      postings.remove(id);
      expected.erase(id);
    }
    ASSERT_EQ(postings.size(), expected.size());
    if (step % 50 != 0) continue;
    IdSet all;
    postings.add_to(all);
    ASSERT_EQ(std::set<TagSetId>(all.begin(), all.end()), expected);
  }
}

class RemovalTest : public testing::Test {
 protected:
  static NewSeries make(std::uint64_t metric, std::uint64_t host, std::uint64_t rack) {
    static const std::string kNames = "abcdefghijklmnopqrstuvwxyz";
    NewSeries made;
    made.metric_uid = metric;
    made.metric = std::string_view(kNames).substr(metric, 1);
    append_be_width(made.tsuid, metric, 1);
    for (const auto& [key, value] : {std::pair(1, host), std::pair(2, rack)}) {
      append_be_width(made.tsuid, static_cast<std::uint64_t>(key), 1);
      append_be_width(made.tsuid, value, 2);
      made.tags.push_back({.key = "k",
                           .value = "v",
                           .key_uid = static_cast<std::uint64_t>(key),
                           .value_uid = value});
    }
    return made;
  }

  void remove(const std::vector<SeriesId>& series) {
    table_->mark_candidates(series);
    SeriesTable::Removed removed;
    EXPECT_TRUE(table_->remove(series, SeriesTable::Rows::kDeleted, removed).empty());
    table_->reclaim(removed);
  }

  const std::unique_ptr<SeriesTable> table_ =
      std::make_unique<SeriesTable>(SeriesLimits{.series = 1000}, kRemovalWidths);
};

TEST_F(RemovalTest, TheIdOfOneThatIsGoneServesAnother) {
  if (kIdsAreChecked) GTEST_SKIP() << "then ids are not reused so early: stale_ids_test.cc";
  const SeriesId a = table_->add(make(1, 1, 1)).value();
  const SeriesId b = table_->add(make(1, 2, 1)).value();
  const std::size_t bytes = table_->bytes();
  remove({a});
  EXPECT_EQ(table_->find(make(1, 1, 1).tsuid), std::nullopt);
  EXPECT_EQ(table_->find(make(1, 2, 1).tsuid), b);
  EXPECT_EQ(table_->size(), 1U);
  EXPECT_EQ(table_->tags().count(1, 1), 0U);
  EXPECT_EQ(table_->tags().count(2, 1), 1U);
  EXPECT_EQ(table_->tags().values(1), 1U);
  EXPECT_EQ(table_->add(make(1, 3, 1)).value(), a);
  EXPECT_EQ(table_->at(a).tsuid.bytes(), make(1, 3, 1).tsuid);
  EXPECT_EQ(table_->bytes(), bytes);
}

TEST_F(RemovalTest, WhatIsUsedIsSpared) {
  const SeriesId a = table_->add(make(1, 1, 1)).value();
  const SeriesId b = table_->add(make(1, 2, 1)).value();
  const SeriesId c = table_->add(make(1, 3, 1)).value();
  const SeriesId d = table_->add(make(1, 4, 1)).value();
  const std::vector<SeriesId> all = {a, b, c, d};
  table_->mark_candidates(all);
  const std::vector<Bytes> wanted = {make(1, 2, 1).tsuid, make(2, 2, 1).tsuid, "", "x"};
  const std::vector<SeriesTable::Known> known = table_->use(wanted);
  EXPECT_EQ(known[0].id, b);
  EXPECT_EQ(known[1].id, std::nullopt);
  EXPECT_TRUE(known[1].tags);
  EXPECT_EQ(known[2].id, std::nullopt);
  EXPECT_EQ(known[3].id, std::nullopt);
  EXPECT_EQ(table_->add(make(1, 3, 1)).value(), c);
  EXPECT_EQ(table_->find(make(1, 4, 1).tsuid), d);  // looking is no use
  SeriesTable::Removed removed;
  EXPECT_EQ(table_->remove(all, SeriesTable::Rows::kDeleted, removed),
            (std::vector<SeriesId>{b, c}));
  EXPECT_EQ(removed.series, (std::vector<SeriesId>{a, d}));
  EXPECT_TRUE(table_->candidates().empty());
  // Until it is reclaimed it is what it was, and its id nobody's.
  EXPECT_EQ(table_->at(a).tsuid.bytes(), make(1, 1, 1).tsuid);
  EXPECT_EQ(table_->add(make(1, 1, 1)).value(), 4U);
  EXPECT_EQ(table_->at(a).tags[0].value_uid, 1U);
}

TEST_F(RemovalTest, TagsThatWereForgottenMeanwhileAreAskedFor) {
  const SeriesId a = table_->add(make(1, 1, 1)).value();
  NewSeries other = make(2, 1, 1);
  ASSERT_TRUE(table_->knows_tags(other.tsuid));
  other.tags.clear();
  remove({a});
  const auto added = table_->add(other);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::kConflict);
  const SeriesId b = table_->add(make(2, 1, 1)).value();
  EXPECT_EQ(table_->at(b).tags.size(), 2U);
}

TEST_F(RemovalTest, WhatWasReadBeforeARemovalIsNotTakenIn) {
  const std::uint64_t before = table_->removals();
  remove({table_->add(make(1, 1, 1)).value()});
  const auto added = table_->add_read(make(1, 1, 1), before);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::kConflict);
  EXPECT_TRUE(table_->add_read(make(1, 1, 1), table_->removals()));
}

// Against a plain map; also by filters, which ask the index.
TEST_F(RemovalTest, FindsWhatIsThere) {
  std::mt19937 random(3);
  std::map<Bytes, SeriesId> known;
  std::set<SeriesId> ids;
  for (int step = 0; step < 3000; ++step) {
    const NewSeries one = make(1 + random() % 3, 1 + random() % 30, 1 + random() % 4);
    const bool grow = step / 300 % 2 == 0;
    if (random() % 4 < (grow ? 3U : 1U)) {
      const SeriesId id = table_->add(one).value();
      const auto [at, fresh] = known.try_emplace(one.tsuid, id);
      ASSERT_EQ(at->second, id);
      ASSERT_EQ(ids.insert(id).second, fresh) << "two series have one id";
    } else if (const auto at = known.find(one.tsuid); at != known.end()) {
      remove({at->second});
      ids.erase(at->second);
      known.erase(at);
    }
    ASSERT_EQ(table_->size(), known.size());
    if (step % 20 != 0) continue;
    for (std::uint64_t metric = 1; metric <= 3; ++metric) {
      TagKeyMatcher rack(2);
      rack.want_any_of({2});
      const std::vector<TagKeyMatcher> matchers = {rack};
      const TagsWanted wanted{.matchers = matchers, .tags_exactly = {}};
      const MembersOf members = {
          .metric_uid = metric, .begin = 0, .end = table_->count_of_metric(metric)};
      std::set<SeriesId> expected;
      for (const auto& [tsuid, id] : known) {
        if (static_cast<std::uint64_t>(tsuid[0]) == metric && tsuid.ends_with('\2')) {
          expected.insert(id);
        }
      }
      const auto found = filter_series(*table_, members, wanted, nullptr).value();
      ASSERT_EQ(std::set<SeriesId>(found.begin(), found.end()), expected) << "step " << step;
      ASSERT_EQ(found.size(), expected.size());
    }
  }
  if (!kIdsAreChecked) EXPECT_LE(ids.empty() ? 0U : *ids.rbegin(), 3U * 30 * 4);
}

}  // namespace
}  // namespace halite::storage
