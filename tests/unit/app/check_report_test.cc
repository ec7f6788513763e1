// The JSON of a check that is running.
#include "app/tools/check_report.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::app {
namespace {

using storage::check::ScrubState;
using testing::HasSubstr;

TEST(ScrubJson, CallsNothingSoundBeforeTheCheckHasEnded) {
  ScrubState state;
  EXPECT_THAT(scrub_json(state), HasSubstr("\"sound\":null"));  // no check yet
  state.running = true;
  state.began_ms = 1;
  EXPECT_THAT(scrub_json(state), HasSubstr("\"sound\":null"));
  state.running = false;
  state.ended_ms = 2;
  EXPECT_THAT(scrub_json(state), HasSubstr("\"sound\":true"));
}

TEST(ScrubJson, ReportsDamageAtOnce) {
  ScrubState state{.running = true, .began_ms = 1};
  state.report.findings.push_back({.file = "a.sst", .what = "damaged"});
  EXPECT_THAT(scrub_json(state), HasSubstr("\"sound\":false"));
}

}  // namespace
}  // namespace halite::app
