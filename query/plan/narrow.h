// Plans that read less than whole hours.
//
// OpenTSDB reads whole rows around the range asked for. Points outside the range serve as
// neighbours for interpolation where a series has no bucket. A group needs no neighbours if each
// member has its buckets from the first time of the group to the last: then the answer is the same
// without them. The engine reads the range alone and checks that (engine/sub_query.cc).
#pragma once

#include <optional>

#include "common/clock.h"
#include "query/plan/plan.h"
#include "query/question.h"

namespace halite::query {

// The plan that reads only the buckets asked for. Nothing if these are most of what `whole` reads,
// or if the answer depends on the other rows by more than neighbours.
[[nodiscard]] std::optional<SubPlan> narrow_plan(const Question& question, const SubPlan& whole,
                                                 TimestampMs now);

}  // namespace halite::query
