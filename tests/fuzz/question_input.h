// What must hold of every question that either syntax lets through.
#pragma once

#include <string>

#include "common/check.h"
#include "query/parse/aggregator.h"
#include "query/parse/time.h"
#include "query/plan/plan.h"
#include "query/question.h"

namespace halite::query {

inline constexpr TimestampMs kFuzzNow = 1'400'000'000'000;

inline void check_checked(const Question& question) {
  HALITE_CHECK(question.begin >= 0 && question.begin < question.end, "a time range is not empty");
  HALITE_CHECK(question.end <= kTimeEnd, "a time is not past the last there is");
  HALITE_CHECK(!question.queries.empty(), "a question asks something");
  for (const SubQuestion& sub : question.queries) {
    HALITE_CHECK(find_aggregator(sub.aggregator) != nullptr, "the aggregator exists");
    HALITE_CHECK(!sub.metric.empty() || !sub.tsuids.empty(), "there is something to read");
    const auto plan = make_plan(question, sub, 1000);
    if (!plan) {
      HALITE_CHECK(plan.error().code == Errc::kTooLarge, "a checked question can be planned");
      continue;
    }
    HALITE_CHECK(plan->scan.begin <= question.begin && plan->scan.end >= question.end,
                 "what is asked is read");
    HALITE_CHECK(plan->scan.begin % 3'600'000 == 0 && plan->scan.end % 3'600'000 == 0,
                 "whole hours are read");
    if (!plan->downsample || plan->downsample->kind != BucketKind::kCalendar) continue;
    const TimestampMs start = plan->downsample->calendar->bucket_start(question.begin);
    HALITE_CHECK(start <= question.begin, "a bucket begins before what it holds");
    HALITE_CHECK(plan->downsample->calendar->next(start) > start, "a bucket has a length");
  }
}

}  // namespace halite::query
