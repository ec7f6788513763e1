#include "app/logging.h"

#include <gtest/gtest.h>

namespace halite::app {
namespace {

TEST(LogJson, IsOneObjectWhateverTheMessage) {
  EXPECT_EQ(log_json("2026-01-02T03:04:05.678Z", "warning", "bad value \"1\n2\" \xFF"),
            R"({"time":"2026-01-02T03:04:05.678Z","level":"warning",)"
            R"("message":"bad value \"1\n2\" ?"})");
}

}  // namespace
}  // namespace halite::app
