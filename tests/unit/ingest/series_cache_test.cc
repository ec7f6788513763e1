#include "ingest/series_cache.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halite::ingest {
namespace {

SeriesKey key(std::string_view metric, std::string_view tags,
              KeyGrammar grammar = KeyGrammar::kPutLine) {
  return {.grammar = grammar, .metric = metric, .tags = tags};
}

std::optional<storage::SeriesId> find(SeriesCache& cache, const SeriesKey& wanted) {
  return cache.reader().find(wanted, cache.hash(wanted));
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
  auto reader = cache.reader();
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
  auto reader = cache.reader();
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
    // The newest are there, the oldest are not.
    EXPECT_EQ(find(cache, key("some.metric", "host=h49999")), 49'999U);
    EXPECT_EQ(find(cache, key("some.metric", "host=h0")), std::nullopt);
  }
}

TEST(SeriesCache, WhatIsInUseStays) {
  SeriesCache cache(256 << 10, 1);
  insert(cache, key("used", "host=a"), 4'000'000);
  for (storage::SeriesId id = 0; id < 50'000; ++id) {
    insert(cache, key("some.metric", "host=h" + std::to_string(id)), id);
    if (id % 100 == 0) {
      ASSERT_EQ(find(cache, key("used", "host=a")), 4'000'000U) << id;
    }
  }
}

TEST(SeriesCache, ReaderKeepsWhatTheCacheHasDropped) {
  SeriesCache cache(64 << 10, 1);
  insert(cache, key("old", "host=a"), 1);
  auto reader = cache.reader();
  for (storage::SeriesId id = 0; id < 10'000; ++id) {
    insert(cache, key("some.metric", "host=h" + std::to_string(id)), id);
  }
  EXPECT_EQ(find(cache, key("old", "host=a")), std::nullopt);
  EXPECT_EQ(reader.find(key("old", "host=a"), cache.hash(key("old", "host=a"))), 1U);
  reader.refresh();
  EXPECT_EQ(
      reader.find(key("some.metric", "host=h9999"), cache.hash(key("some.metric", "host=h9999"))),
      9999U);
}

TEST(SeriesCache, CollidingKeysCostABoundedSearch) {
  SeriesCache cache(1 << 20, 1);
  std::size_t found = 0;
  for (storage::SeriesId id = 0; id < 1000; ++id) {
    cache.insert(key("m", std::to_string(id)), 42, id, 0);
  }
  auto reader = cache.reader();
  for (storage::SeriesId id = 0; id < 1000; ++id) {
    const auto known = reader.find(key("m", std::to_string(id)), 42);
    if (!known) continue;
    EXPECT_EQ(*known, id);
    ++found;
  }
  EXPECT_GT(found, 0U);
  EXPECT_LE(found, 64U);
}

TEST(SeriesCache, ManyThreadsFindOnlyWhatIsTrue) {
  SeriesCache cache(128 << 10, 1);
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::size_t> found{0};
  const auto work = [&](unsigned thread) {
    for (storage::SeriesId i = 0; i < 20'000; ++i) {
      // Every other look-up is of one of few series, so that some are found however threads race.
      const storage::SeriesId id = i % 2 == 0 ? i % 8 : (i * 7 + thread * 13) % 1500;
      const std::string tags = "host=h" + std::to_string(id);
      const SeriesKey wanted = key("some.metric", tags);
      const std::uint64_t hash = cache.hash(wanted);
      auto reader = cache.reader();
      reader.prefetch_slot(hash);
      reader.prefetch_entry(hash);
      reader.prefetch_text(wanted, hash);
      if (const auto known = reader.find(wanted, hash)) {
        ++found;
        if (*known != id) ++wrong;
      } else {
        cache.insert(wanted, hash, id, 0);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(found, 1000U);
  EXPECT_LE(cache.bytes(), 128U << 10);
}

}  // namespace
}  // namespace halite::ingest
