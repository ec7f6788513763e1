#include "app/tools/tool_exit.h"

#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace halite::app {
namespace {

TEST(ToolExit, IsWhatTheToolSaysOrThatItWasNotDone) {
  std::string said;
  const Print err = [&said](std::string_view line) { said += line; };
  EXPECT_EQ(exit_status([] { return 1; }, err), 1);
  EXPECT_EQ(said, "");
  EXPECT_EQ(exit_status([]() -> int { throw std::bad_alloc(); }, err), 2);
  EXPECT_EQ(said, "stopped early: not enough memory");
  said.clear();
  EXPECT_EQ(exit_status([]() -> int { throw std::runtime_error("no such thing"); }, err), 2);
  EXPECT_EQ(said, "stopped early: no such thing");
}

}  // namespace
}  // namespace halite::app
