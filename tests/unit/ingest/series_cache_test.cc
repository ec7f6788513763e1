#include "ingest/series_cache/series_cache.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/tsuid.h"

namespace halite::ingest {
namespace {

SeriesKey key(std::string_view metric, std::string_view tags,
              KeyGrammar grammar = KeyGrammar::kPutLine) {
  return {.grammar = grammar, .metric = metric, .tags = tags};
}

std::optional<storage::SeriesId> find(SeriesCache& cache, const SeriesKey& wanted) {
  return cache.reader({}).find(wanted, cache.hash(wanted));
}

void insert(SeriesCache& cache, const SeriesKey& added, storage::SeriesId id) {
  cache.insert(added, cache.hash(added), id, cache.epoch());
}

TEST(SeriesCache, FindsWhatWasPutIn) {
  SeriesCache cache(1 << 20, 1);
  EXPECT_EQ(find(cache, key("m", "host=a")), std::nullopt);
  insert(cache, key("m", "host=a"), 7);
  EXPECT_EQ(find(cache, key("m", "host=a")), 7U);
  EXPECT_EQ(cache.keys(), 1U);
}

TEST(SeriesCache, FirstIdStays) {
  SeriesCache cache(1 << 20, 1);
  insert(cache, key("m", "host=a"), 7);
  insert(cache, key("m", "host=a"), 8);
  EXPECT_EQ(find(cache, key("m", "host=a")), 7U);
  EXPECT_EQ(cache.keys(), 1U);
}

TEST(SeriesCache, ClearedItKnowsNothing) {
  SeriesCache cache(1 << 20, 1);
  insert(cache, key("m", "host=a"), 7);
  auto reader = cache.reader({});
  const std::uint64_t before = cache.epoch();
  cache.clear();
  EXPECT_EQ(find(cache, key("m", "host=a")), std::nullopt);
  EXPECT_EQ(cache.keys(), 0U);
  // What was found out before stays out, also through a reader that still holds it.
  cache.insert(key("n", ""), cache.hash(key("n", "")), 8, before);
  EXPECT_EQ(find(cache, key("n", "")), std::nullopt);
  EXPECT_EQ(reader.find(key("m", "host=a"), cache.hash(key("m", "host=a"))), 7U);
  EXPECT_EQ(find(cache, key("m", "host=a")), std::nullopt);
  reader.refresh();
  EXPECT_EQ(reader.find(key("m", "host=a"), cache.hash(key("m", "host=a"))), std::nullopt);
  insert(cache, key("m", "host=a"), 9);
  EXPECT_EQ(find(cache, key("m", "host=a")), 9U);
}

TEST(SeriesCache, KeysAreComparedInFull) {
  SeriesCache cache(1 << 20, 1);
  const std::uint64_t same = 0x1234'5678'9ABC'DEF0;
  cache.insert(key("ab", "c"), same, 1, 0);
  cache.insert(key("a", "bc"), same, 2, 0);
  cache.insert(key("ab", "c", KeyGrammar::kJson), same, 3, 0);
  cache.insert(key("ab", "c", KeyGrammar::kNames), same, 4, 0);
  auto reader = cache.reader({});
  EXPECT_EQ(reader.find(key("ab", "c"), same), 1U);
  EXPECT_EQ(reader.find(key("a", "bc"), same), 2U);
  EXPECT_EQ(reader.find(key("ab", "c", KeyGrammar::kJson), same), 3U);
  EXPECT_EQ(reader.find(key("ab", "c", KeyGrammar::kNames), same), 4U);
  EXPECT_EQ(reader.find(key("abc", ""), same), std::nullopt);
  EXPECT_EQ(reader.find(key("ab", "d"), same), std::nullopt);
}

TEST(SeriesCache, EmptyPiecesAndZerosAreKeysToo) {
  SeriesCache cache(1 << 20, 1);
  insert(cache, key("", ""), 1);
  insert(cache, key(std::string_view("\0", 1), ""), 2);
  insert(cache, key("", std::string_view("\0", 1)), 3);
  EXPECT_EQ(find(cache, key("", "")), 1U);
  EXPECT_EQ(find(cache, key(std::string_view("\0", 1), "")), 2U);
  EXPECT_EQ(find(cache, key("", std::string_view("\0", 1))), 3U);
}

TEST(SeriesCache, BytesOfTagsAreKeptOnceForAllMetrics) {
  SeriesCache cache(4 << 20, 1);
  const std::string tags(200, 't');
  insert(cache, key("m0", tags), 0);
  const std::size_t one = cache.bytes();
  for (storage::SeriesId id = 1; id < 1000; ++id) {
    insert(cache, key("m" + std::to_string(id), tags), id);
  }
  EXPECT_LT(cache.bytes() - one, 999 * tags.size());
  for (storage::SeriesId id = 0; id < 1000; ++id) {
    EXPECT_EQ(find(cache, key("m" + std::to_string(id), tags)), id);
  }
}

TEST(SeriesCache, LargerItTakesMoreKeysAndSmallerItForgets) {
  SeriesCache cache(64 << 10, 1);
  const auto add = [&cache] {
    for (storage::SeriesId id = 0; id < 4000; ++id) {
      const std::string metric = "m" + std::to_string(id);
      if (!find(cache, key(metric, "host=a"))) insert(cache, key(metric, "host=a"), id);
    }
  };
  add();
  const std::size_t few = cache.keys();
  ASSERT_LT(few, 4000U);
  cache.resize(4 << 20);
  EXPECT_EQ(cache.keys(), few);  // no key was lost
  add();
  EXPECT_EQ(cache.keys(), 4000U);
  auto reader = cache.reader({});
  const SeriesKey first = key("m0", "host=a");
  cache.resize(2 << 20);  // all still fit
  EXPECT_EQ(cache.keys(), 4000U);
  cache.resize(64 << 10);
  EXPECT_LE(cache.bytes(), 64U << 10);
  EXPECT_EQ(reader.find(first, cache.hash(first)), 0U);  // it holds what the cache dropped
  add();
  EXPECT_LE(cache.bytes(), 64U << 10);
  EXPECT_GT(cache.keys(), 0U);
}

TEST(SeriesCache, IsResizedWhileThreadsUseIt) {
  SeriesCache cache(1 << 20, 1);
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&cache, &over] {
      auto reader = cache.reader({});
      for (storage::SeriesId id = 0; !over; id = (id + 1) % 5000) {
        const std::string metric = "m" + std::to_string(id);
        const SeriesKey wanted = key(metric, "host=a");
        const std::uint64_t hash = cache.hash(wanted);
        if (const auto found = reader.find_in_order(wanted, hash)) EXPECT_EQ(*found, id);
        cache.insert(wanted, hash, id, 0);
        reader.refresh();
      }
    });
  }
  for (int round = 0; round < 300; ++round) {
    cache.resize(std::size_t{32 << 10} << (round % 6));
    std::this_thread::yield();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  cache.resize(32 << 10);
  EXPECT_LE(cache.bytes(), 32U << 10);
}

TEST(SeriesCache, HashDependsOnTheSeed) {
  EXPECT_NE(SeriesCache(0, 1).hash(key("m", "host=a")), SeriesCache(0, 2).hash(key("m", "host=a")));
}

TEST(SeriesCache, WithoutMemoryItKeepsNothing) {
  SeriesCache cache(0, 1);
  insert(cache, key("m", "host=a"), 7);
  EXPECT_EQ(find(cache, key("m", "host=a")), std::nullopt);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(SeriesCache, KeyLargerThanItsShareIsLeftOut) {
  SeriesCache cache(1 << 20, 1);
  insert(cache, key("m", std::string(1 << 20, 'x')), 7);
  EXPECT_EQ(find(cache, key("m", std::string(1 << 20, 'x'))), std::nullopt);
  EXPECT_EQ(cache.keys(), 0U);
}

TEST(SeriesCache, StaysWithinItsBytes) {
  for (const std::size_t bytes_max : {64U << 10, 1U << 20}) {
    SeriesCache cache(bytes_max, 1);
    for (storage::SeriesId id = 0; id < 50'000; ++id) {
      insert(cache, key("some.metric", "host=h" + std::to_string(id)), id);
      ASSERT_LE(cache.bytes(), bytes_max);
    }
    EXPECT_GT(cache.bytes(), bytes_max / 4);
    EXPECT_GT(cache.keys(), bytes_max / 1024);
  }
}

// Looks a series up, and adds it if it is missing, as a writer does.
bool hit(SeriesCache& cache, SeriesCache::Reader& reader, storage::SeriesId id) {
  const std::string tags = "host=h" + std::to_string(id);
  const SeriesKey wanted = key("some.metric", tags);
  const std::uint64_t hash = cache.hash(wanted);
  reader.refresh();
  const auto found = reader.find_in_order(wanted, hash);
  if (found) {
    EXPECT_EQ(*found, id);
  } else {
    cache.insert(wanted, hash, id, cache.epoch());
  }
  return found.has_value();
}

constexpr std::size_t kBytesMax = 256 << 10;

// The number of series for which a cache of kBytesMax has room.
storage::SeriesId room() {
  SeriesCache cache(kBytesMax, 1);
  storage::SeriesId id = 0;
  for (std::size_t before = 0; id == 0 || cache.keys() > before; ++id) {
    before = cache.keys();
    insert(cache, key("some.metric", "host=h" + std::to_string(id)), id);
  }
  return id - 1;
}

TEST(SeriesCache, ShareOfHitsFollowsItsSizeWhateverTheOrder) {
  const storage::SeriesId fit = room();
  for (const bool shuffled : {false, true}) {
    for (const storage::SeriesId times : {2U, 5U}) {
      SeriesCache cache(kBytesMax, 1);
      auto reader = cache.reader({});
      std::vector<storage::SeriesId> order(static_cast<std::size_t>(fit) * times);
      std::iota(order.begin(), order.end(), 0U);
      std::minstd_rand random(7);
      std::size_t hits = 0;
      constexpr std::size_t kRounds = 20;
      for (std::size_t round = 0; round < kRounds; ++round) {
        if (shuffled) std::ranges::shuffle(order, random);
        for (const storage::SeriesId id : order) hits += hit(cache, reader, id) ? 1 : 0;
      }
      const double share = static_cast<double>(hits) / static_cast<double>(kRounds * order.size());
      EXPECT_GT(share, 0.9 / times) << shuffled;
    }
  }
}

TEST(SeriesCache, SeriesThatFellSilentGiveWay) {
  const storage::SeriesId fit = room();
  SeriesCache cache(kBytesMax, 1);
  auto reader = cache.reader({});
  for (storage::SeriesId id = 0; id < fit; ++id) hit(cache, reader, id);
  // Others come in place of them.
  for (int round = 0; round < 40; ++round) {
    for (storage::SeriesId id = fit; id < 2 * fit; ++id) hit(cache, reader, id);
  }
  std::size_t hits = 0;
  for (storage::SeriesId id = fit; id < 2 * fit; ++id) hits += hit(cache, reader, id) ? 1 : 0;
  EXPECT_GT(hits, fit * 9 / 10);
}

TEST(SeriesCache, ReaderKeepsWhatTheCacheHasDropped) {
  const storage::SeriesId fit = room();
  SeriesCache cache(kBytesMax, 1);
  insert(cache, key("old", "host=a"), 1);
  auto reader = cache.reader({});
  auto other = cache.reader({});
  for (storage::SeriesId silent = 1; silent <= 3; ++silent) {
    for (int round = 0; round < 40; ++round) {
      for (storage::SeriesId id = 0; id < fit; ++id) hit(cache, other, silent * 1'000'000 + id);
    }
  }
  EXPECT_EQ(find(cache, key("old", "host=a")), std::nullopt);
  EXPECT_EQ(reader.find(key("old", "host=a"), cache.hash(key("old", "host=a"))), 1U);
  reader.refresh();
  EXPECT_EQ(reader.find(key("old", "host=a"), cache.hash(key("old", "host=a"))), std::nullopt);
}

// The series of a table, as a point store shows them.
class Names : public storage::PointSink {
 public:
  storage::SeriesId add(std::uint64_t host) {
    hosts_.push_back("h" + std::to_string(host));
    storage::NewSeries added;
    added.metric_uid = 1;
    added.metric = "some.metric";
    added.tags.push_back(
        {.key = "host", .value = hosts_.back(), .key_uid = 1, .value_uid = host + 1});
    append_be_width(added.tsuid, 1, 3);
    append_be_width(added.tsuid, 1, 3);
    append_be_width(added.tsuid, host + 1, 3);
    return *table_->add(added);
  }
  [[nodiscard]] const storage::Series& series(storage::SeriesId id) const override {
    return table_->at(id);
  }
  Task<storage::InternedSeries> intern(std::vector<SeriesName> /*names*/,
                                       storage::CreateNames /*create*/) override {
    co_return storage::InternedSeries();
  }
  Task<storage::Accepted> append(storage::PointBatch /*batch*/) override {
    co_return storage::Accepted();
  }

 private:
  std::deque<std::string> hosts_;
  std::unique_ptr<storage::SeriesTable> table_ =
      std::make_unique<storage::SeriesTable>(storage::SeriesLimits{});
};

TEST(SeriesCache, IndexAnswersForKeysWhoseTextsHaveNoRoom) {
  Names names;
  SeriesCache cache(1 << 20, 1, &names);
  constexpr storage::SeriesId kSeries = 8000;  // the texts of about half of them fit
  for (storage::SeriesId id = 0; id < kSeries; ++id) {
    ASSERT_EQ(names.add(id), id);
    insert(cache, key("some.metric", "host=h" + std::to_string(id)), id);
  }
  EXPECT_LT(cache.keys(), kSeries * 3 / 4);
  EXPECT_LE(cache.bytes(), 1U << 20);
  for (storage::SeriesId id = 0; id < kSeries; ++id) {
    EXPECT_EQ(find(cache, key("some.metric", "host=h" + std::to_string(id))), id);
  }
  // Another spelling of a known series is not found.
  EXPECT_EQ(find(cache, key("some.metric", " host=h7")), std::nullopt);
  cache.clear();
  EXPECT_EQ(find(cache, key("some.metric", "host=h7999")), std::nullopt);
}

TEST(SeriesCache, SmallerItKeepsItsIndexWhileThatFillsUpToHalf) {
  Names names;
  SeriesCache cache(1 << 20, 1, &names);
  for (storage::SeriesId id = 0; id < 4000; ++id) {
    ASSERT_EQ(names.add(id), id);
    insert(cache, key("some.metric", "host=h" + std::to_string(id)), id);
  }
  cache.resize(512 << 10);
  EXPECT_LE(cache.bytes(), 512U << 10);
  EXPECT_EQ(cache.keys(), 0U);
  EXPECT_EQ(find(cache, key("some.metric", "host=h0")), 0U);
  EXPECT_EQ(cache.keys(), 1U);  // the text is here again
  cache.resize(64 << 10);
  EXPECT_LE(cache.bytes(), 64U << 10);
  EXPECT_EQ(find(cache, key("some.metric", "host=h3999")), std::nullopt);
}

// A cache without room for further texts: what it finds of them, its index finds.
void fill_texts(SeriesCache& cache) {
  for (std::size_t before = 1, id = 0; cache.keys() != before || id < 10; ++id) {
    before = cache.keys();
    insert(cache, key("filler", std::to_string(id)), 0);
  }
}

TEST(SeriesCache, IndexComparesNamesWhenHashesAreEqual) {
  Names names;
  SeriesCache cache(1 << 20, 1, &names);
  names.add(0);
  fill_texts(cache);
  const std::size_t texts = cache.keys();
  const std::uint64_t same = 0x1234'5678'9ABC'DEF0;
  for (storage::SeriesId id = 0; id < 3; ++id) {
    if (id > 0) names.add(id);
    cache.insert(key("some.metric", "host=h" + std::to_string(id)), same, id, 0);
  }
  EXPECT_EQ(cache.keys(), texts);
  auto reader = cache.reader({});
  for (storage::SeriesId id = 0; id < 20; ++id) {
    const auto known = reader.find(key("some.metric", "host=h" + std::to_string(id)), same);
    EXPECT_EQ(known, id < 3 ? std::optional(id) : std::nullopt) << id;
  }
}

TEST(SeriesCache, FullIndexKeepsAShareOfItsKeys) {
  Names names;
  SeriesCache cache(256 << 10, 1, &names);
  names.add(0);
  fill_texts(cache);
  constexpr storage::SeriesId kSeries = 20'000;  // 64 KiB have room for about 2500
  for (storage::SeriesId id = 1; id < kSeries; ++id) names.add(id);
  auto reader = cache.reader({});
  std::size_t found = 0;
  for (int round = 0; round < 4; ++round) {
    found = 0;
    for (storage::SeriesId id = 0; id < kSeries; ++id) {
      const std::string tags = "host=h" + std::to_string(id);
      const SeriesKey wanted = key("some.metric", tags);
      const std::uint64_t hash = cache.hash(wanted);
      reader.refresh();
      if (const auto known = reader.find(wanted, hash)) {
        EXPECT_EQ(*known, id);
        ++found;
      } else {
        cache.insert(wanted, hash, id, cache.epoch());
      }
    }
  }
  EXPECT_GT(found, 1000U);
  EXPECT_LE(cache.bytes(), 256U << 10);
}

TEST(SeriesCache, PinOfALaterEpochClearsIt) {
  SeriesCache cache(1 << 20, 1);
  insert(cache, key("m", "host=a"), 7);
  EXPECT_EQ(find(cache, key("m", "host=a")), 7U);
  const SeriesKey wanted = key("m", "host=a");
  EXPECT_EQ(cache.reader({.epoch = 1, .series_epoch = 1}).find(wanted, cache.hash(wanted)),
            std::nullopt);
}

TEST(SeriesCache, CollidingKeysCostABoundedSearch) {
  SeriesCache cache(1 << 20, 1);
  std::size_t found = 0;
  for (storage::SeriesId id = 0; id < 1000; ++id) {
    cache.insert(key("m", std::to_string(id)), 42, id, 0);
  }
  auto reader = cache.reader({});
  for (storage::SeriesId id = 0; id < 1000; ++id) {
    const auto known = reader.find(key("m", std::to_string(id)), 42);
    if (!known) continue;
    EXPECT_EQ(*known, id);
    ++found;
  }
  EXPECT_GT(found, 0U);
  EXPECT_LE(found, 64U);
}

// Texts, their replacement, the index and its growth, and clear(), by several threads.
TEST(SeriesCache, ManyThreadsFindOnlyWhatIsTrue) {
  constexpr storage::SeriesId kSeries = 3000;
  constexpr std::size_t kCacheBytes = 128 << 10;
  Names names;
  for (storage::SeriesId id = 0; id < kSeries; ++id) names.add(id);
  SeriesCache cache(kCacheBytes, 1, &names);
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::size_t> found{0};
  const auto work = [&](unsigned thread) {
    for (storage::SeriesId i = 0; i < 20'000; ++i) {
      // Every other look-up is of one of few series, so that some are found however threads race.
      const storage::SeriesId id = i % 2 == 0 ? i % 8 : (i * 7 + thread * 13) % kSeries;
      const std::string tags = "host=h" + std::to_string(id);
      const SeriesKey wanted = key("some.metric", tags);
      const std::uint64_t hash = cache.hash(wanted);
      const std::uint64_t epoch = cache.epoch();
      auto reader = cache.reader({});
      reader.prefetch_slot(hash);
      reader.prefetch_entry(hash);
      reader.prefetch_text(wanted, hash);
      if (const auto known = reader.find_in_order(wanted, hash)) {
        ++found;
        if (*known != id) ++wrong;
      } else {
        cache.insert(wanted, hash, id, epoch);
      }
      if (thread == 0 && i % 5000 == 4999) cache.clear();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(found, 1000U);
  EXPECT_LE(cache.bytes(), kCacheBytes);
}

}  // namespace
}  // namespace halite::ingest
