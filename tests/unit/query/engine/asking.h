// What the tests of the query engine put and ask.
#pragma once

#include <string>

#include <fmt/format.h>

#include "query/answer.h"
#include "query/parse/question_parse.h"
#include "tests/support/query_world.h"
#include "tests/unit/query/times.h"

namespace halite::query {

inline Parameters asking(const std::string& m, TimestampMs begin = kT,
                         TimestampMs end = kT + 600'000) {
  return {{"start", fmt::format("{}ms", begin)}, {"end", fmt::format("{}ms", end)}, {"m", m}};
}

inline void put(test::QueryWorld& world, const std::string& series, TimestampMs time,
                std::int64_t value) {
  world.put(series, time, integer_bits(value), false);
}

// Series m host=0 ... of `points` points each, one a minute.
inline void fill_hosts(test::QueryWorld& world, int series, int points) {
  for (int s = 0; s < series; ++s) {
    for (int p = 0; p < points; ++p) {
      put(world, fmt::format("m host={}", s), kT + p * 60'000, s + p);
    }
  }
}

inline Error refusal(const Result<Answer>& answer) { return answer ? Error{} : answer.error(); }

}  // namespace halite::query
