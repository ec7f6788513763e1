#include "app/server/shutdown_deadline.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/log_capture.h"
#include "tests/support/soon.h"

namespace halite::app {
namespace {

using std::chrono::milliseconds;

TEST(ShutdownDeadline, SaysWhatIsGivenUpAndEnds) {
  const test::LogCapture log;
  std::atomic<int> ended = 0;
  {
    ShutdownDeadline deadline([&] { ++ended; });
    deadline.allow(milliseconds(1), [] { return std::string("two connections"); });
    EXPECT_TRUE(test::soon([&] { return ended == 1; }));
  }
  EXPECT_EQ(ended, 1);
  EXPECT_THAT(
      log.text(),
      testing::HasSubstr("the process exits without waiting for: two connections. Acknowledged"));
}

TEST(ShutdownDeadline, EachStepHasItsOwnTime) {
  std::atomic<int> ended = 0;
  std::atomic<int> asked = 0;
  {
    ShutdownDeadline deadline([&] { ++ended; });
    deadline.allow(std::chrono::hours(1), [&] { return ++asked, std::string("the first"); });
    deadline.allow(milliseconds(1), [] { return std::string("the second"); });
    EXPECT_TRUE(test::soon([&] { return ended == 1; }));
  }
  EXPECT_EQ(asked, 0);
}

TEST(ShutdownDeadline, WhatEndsInTimeIsLeftAlone) {
  std::atomic<int> ended = 0;
  {
    ShutdownDeadline never([&] { ++ended; });
    ShutdownDeadline late([&] { ++ended; });
    late.allow(std::chrono::hours(1), [] { return std::string("nothing"); });
  }
  EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace halite::app
