// Reading less than whole hours. OpenTSDB reads the rows around the range asked, whose points
// outside it serve as neighbours: a series without a bucket at a time of the answer stands in with
// what lies between the one before and the one behind. Where every series of a group has its
// buckets from the group's first time to its last, nobody asks for neighbours outside, and the
// answer is the same without them. That is found out by reading the range alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/clock.h"
#include "query/group.h"
#include "query/plan.h"
#include "query/question.h"

namespace halite::query {

// The plan for the buckets asked alone; nothing where they are most of what `whole` reads, or where
// more than their neighbours depends on the rest.
[[nodiscard]] std::optional<SubPlan> narrow_plan(const Question& question, const SubPlan& whole,
                                                 TimestampMs now);

// All series selected are members, read to the end by a narrow plan and not merged yet: would they
// be merged to the same with what `whole` reads besides?
[[nodiscard]] bool stands_alone(const std::vector<Group*>& groups, std::size_t series_selected,
                                const SubPlan& narrow, const SubPlan& whole);

}  // namespace halite::query
