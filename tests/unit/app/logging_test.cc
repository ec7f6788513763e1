#include "app/server/logging.h"

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/check.h"
#include "common/log.h"

namespace halite::app {
namespace {

TEST(LogJson, IsOneObjectWhateverTheMessage) {
  EXPECT_EQ(log_json("2026-01-02T03:04:05.678Z", "warning", "bad value \"1\n2\" \xFF"),
            R"({"time":"2026-01-02T03:04:05.678Z","level":"warning",)"
            R"("message":"bad value \"1\n2\" ?"})");
}

// However the process ends by itself, what led there is not lost in the queue.
TEST(RunningLogDeathTest, ABrokenPromiseIsToldAndSoIsWhatWasLoggedBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [](void (*how)()) {
    const LoggingScope log(LogOptions{});
    for (int i = 1; i <= 100; ++i) log::info("line {} of 100", i);
    how();
  };
  EXPECT_DEATH(
      end([] { HALITE_CHECK(false, "the reason"); }),
      testing::AllOf(testing::HasSubstr("internal error at "), testing::HasSubstr("(the reason)"),
                     testing::HasSubstr("line 100 of 100")));
  EXPECT_DEATH(end([] { std::terminate(); }), "line 100 of 100");
  EXPECT_DEATH(
      end([] {
        const std::jthread thread([] { throw std::runtime_error("no handler catches this"); });
      }),
      "ends because of an exception: no handler catches this");
  EXPECT_EXIT(end([] { end_process(); }), testing::ExitedWithCode(EXIT_FAILURE), "line 100 of 100");
}

}  // namespace
}  // namespace halite::app
