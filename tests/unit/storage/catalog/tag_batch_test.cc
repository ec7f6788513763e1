#include "storage/catalog/index/tag_batch.h"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

constexpr std::uint64_t kHosts = 5000;

// The tags of a host: one of its own, one of a few, one of all.
std::vector<SeriesTag> tags_of(std::uint64_t host) {
  return {{.key = "host", .value = "h", .key_uid = 1, .value_uid = host},
          {.key = "rack", .value = "r", .key_uid = 2, .value_uid = host % 7},
          {.key = "site", .value = "s", .key_uid = 3, .value_uid = 1}};
}

void add_hosts(TagIndex& index, std::uint64_t begin, std::uint64_t end) {
  TagBatch batch(index);
  std::vector<std::vector<std::uint32_t>> sets;
  std::vector<SeriesTag> tags;  // by number
  for (std::uint64_t host = begin; host < end; ++host) {
    std::vector<std::uint32_t>& numbers = sets.emplace_back();
    for (const SeriesTag& tag : tags_of(host)) {
      numbers.push_back(batch.number_of(tag.key_uid, tag.value_uid));
      if (numbers.back() == tags.size()) tags.push_back(tag);
    }
  }
  for (const std::uint32_t number : batch.unknown()) batch.make(number, tags[number]);
  for (std::uint64_t host = begin; host < end; ++host) {
    batch.add(std::to_string(host), sets[host - begin]);
  }
}

TEST(TagBatch, ThreadsFillAnIndexAsSingleSetsDo) {
  const auto one_by_one = std::make_unique<TagIndex>(kHosts);
  for (std::uint64_t host = 0; host < kHosts; ++host) {
    one_by_one->add(std::to_string(host), tags_of(host));
  }
  const auto index = std::make_unique<TagIndex>(kHosts);
  index->add("1", tags_of(1));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&index] {  // both add all sets
      for (std::uint64_t begin = 0; begin < kHosts; begin += 500) {
        add_hosts(*index, begin, begin + 500);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t key : {1, 2, 3}) EXPECT_EQ(index->values(key), one_by_one->values(key));
  for (std::uint64_t host = 0; host < kHosts; ++host) {
    const TagSet* const set = index->find(std::to_string(host));
    ASSERT_NE(set, nullptr) << host;
    EXPECT_EQ(SeriesTags(*set)[0].value_uid, host);
    for (const SeriesTag& tag : tags_of(host)) {
      IdSet sets;
      index->add_sets(tag.key_uid, tag.value_uid, sets);
      ASSERT_TRUE(sets.contains(set->id())) << host << ' ' << tag.key;
      ASSERT_EQ(sets.cardinality(), index->count(tag.key_uid, tag.value_uid)) << tag.key;
      ASSERT_EQ(sets.cardinality(), one_by_one->count(tag.key_uid, tag.value_uid)) << tag.key;
    }
  }
}

}  // namespace
}  // namespace halite::storage
