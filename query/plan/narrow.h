// Plans that read less than whole hours.
//
// OpenTSDB reads whole rows around the time range. Points outside the range are neighbours for
// interpolation where a series has no bucket. A group needs no neighbours if each member has a
// bucket at the group's first time and at its last: then the answer does not change without them.
// The engine reads only the range and checks this (engine/sub_query.cc).
#pragma once

#include <optional>

#include "common/clock.h"
#include "query/plan/plan.h"
#include "query/question.h"

namespace halite::query {

// The plan that reads only the buckets of the time range. Nothing if these are most of what `whole`
// reads, or if the answer depends on the other rows for more than neighbours.
[[nodiscard]] std::optional<SubPlan> narrow_plan(const Question& question, const SubPlan& whole,
                                                 TimestampMs now);

}  // namespace halite::query
