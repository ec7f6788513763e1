// What a question is answered, worked out slowly and plainly from the rules: whole lists of points,
// a step at a time, nothing streamed. It shares with query/ only the calendar's grid and the table
// of aggregators' names.
#pragma once

#include <string>
#include <vector>

#include "query/question.h"
#include "tests/support/sample_point_store.h"

namespace halite::query {

struct ReferencePoint {
  TimestampMs time = 0;
  bool is_float = false;
  std::int64_t integer = 0;
  double number = 0;
};

// The merged points of one group, `members` in the order in which they combine.
[[nodiscard]] std::vector<ReferencePoint> reference_answer(
    const Question& question, const SubQuestion& sub,
    const std::vector<const test::SampleSeries*>& members);

}  // namespace halite::query
