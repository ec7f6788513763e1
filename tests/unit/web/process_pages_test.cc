#include "web/process_pages.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace halite::web {
namespace {

TEST(ProcessPages, memory_and_age) {
  const boost::json::value page = boost::json::parse(jvm_json(VersionInfo(), 1'000'000'000'000));
  const boost::json::value& heap = page.at("memory").at("heapMemoryUsage");
  EXPECT_GT(heap.at("used").as_int64(), 100'000);
  EXPECT_GT(heap.at("max").as_int64(), heap.at("used").as_int64());
  const std::int64_t up = page.at("runtime").at("uptime").as_int64();
  EXPECT_GE(up, 0);
  EXPECT_LT(up, 3'600'000);
  EXPECT_EQ(page.at("runtime").at("startTime").as_int64(), 1'000'000'000'000 - up);
  EXPECT_TRUE(page.at("gc").is_object());
  EXPECT_GE(page.at("os").at("systemLoadAverage").to_number<double>(), 0);
}

TEST(ProcessPages, this_thread_is_among_them) {
  const boost::json::value page = boost::json::parse(threads_json());
  bool found = false;
  for (const boost::json::value& thread : page.as_array()) {
    if (thread.at("threadID").as_int64() != ::getpid()) continue;
    found = true;
    EXPECT_EQ(thread.at("state").as_string(), "RUNNABLE");
    EXPECT_FALSE(thread.at("name").as_string().empty());
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace halite::web
