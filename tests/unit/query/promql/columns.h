// Vectors of tests, and how tests read them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "query/promql/eval/values.h"
#include "query/promql/number_text.h"

namespace halite::query::promql {

inline constexpr double kNone = kAbsent;

// {j="a"} 1 _ 3: each row in a text, `_` where it has no value.
inline std::vector<std::string> rows_of(const Vector& vector) {
  std::vector<std::string> texts;
  for (const Row& row : vector.rows) {
    std::string text = row.labels.text();
    for (const double value : row.values) {
      text += ' ';
      text += is_absent(value) ? "_" : general_text(value);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace halite::query::promql
