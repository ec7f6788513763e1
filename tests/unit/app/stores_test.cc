#include "app/stores/stores.h"

#include <filesystem>
#include <fstream>

#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

// What is there would seem to be gone, and what comes would be.
TEST(OpenStores, AStoreInMemoryRefusesADirectoryWithPoints) {
  const test::TempDir dir;
  const FakeClock clock(1'700'000'000'000);
  prometheus::Registry registry;
  boost::asio::thread_pool pool(1);
  Options options;
  options.store = StoreKind::kMemory;
  options.data_dir = dir.path();
  auto opened = open_stores(options, clock, pool.get_executor(), registry);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(test::run_task((*opened)->table_regions()).error().code, Errc::kUnsupported);
  const auto loader = (*opened)->make_point_loader({.url = "file:///tmp"});
  EXPECT_EQ(loader.error().code, Errc::kUnsupported);
  EXPECT_TRUE((*opened)->close());
  opened->reset();
  for (const char* const kept : {"engine", "rocksdb"}) {
    const std::filesystem::path there = std::filesystem::path(dir.path()) / kept;
    std::filesystem::create_directory(there);
    const auto refused = open_stores(options, clock, pool.get_executor(), registry);
    ASSERT_FALSE(refused) << kept;
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("holds points that --store memory"));
    std::filesystem::remove(there);
  }
}

// An empty store of names beside the points would be taken for theirs.
TEST(OpenStores, ARefusedStartLeavesNoStoreOfNamesBehind) {
  const test::TempDir dir;
  const std::filesystem::path there(dir.path());
  const FakeClock clock(1'700'000'000'000);
  prometheus::Registry registry;
  boost::asio::thread_pool pool(1);
  Options options;
  options.data_dir = dir.path();
  std::filesystem::create_directories(there / "engine" / "chunks");
  std::ofstream(there / "engine" / "chunks" / "CURRENT") << "MANIFEST-000005\n";
  const auto refused = open_stores(options, clock, pool.get_executor(), registry);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("holds points, but the names of their series are missing"));
  EXPECT_FALSE(std::filesystem::exists(there / "rocksdb"));
}

}  // namespace
}  // namespace halite::app
