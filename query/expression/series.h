// Series as expressions know them: what they stand for, and their points as doubles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "query/answer.h"

namespace halite::query {

// A tag's key and value. Ordered by ids, which is the order in which OpenTSDB keeps them.
struct ExpressionTag {
  std::string key;
  std::string value;
  std::uint64_t value_uid = 0;
};

struct SeriesMeaning {
  std::map<std::string, Bytes> metrics;                 // name to a tsuid that begins with its id
  std::map<std::uint64_t, ExpressionTag> tags;          // by key uid
  std::map<std::uint64_t, std::string> aggregate_tags;  // by key uid
  std::vector<Bytes> tsuids;

  // Takes in what another series of the same row stands for; tags stay those of the first.
  void add(const SeriesMeaning& other);

  // The metric with the lowest id; empty when there is none.
  [[nodiscard]] std::string first_metric() const;
};

struct ExpressionSeries {
  SeriesMeaning meaning;
  std::vector<TimestampMs> times;  // ascending, none twice
  std::vector<double> values;      // NaN: none
};

[[nodiscard]] SeriesMeaning meaning_of(const AnswerSeries& series);
[[nodiscard]] ExpressionSeries expression_series(const AnswerSeries& series);

}  // namespace halite::query
