// Series as inputs of expressions: metrics and tags, and their points as doubles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "query/answer.h"

namespace halite::query {

// A tag's key and value. Ordered by UIDs, as in OpenTSDB.
struct ExpressionTag {
  std::string key;
  std::string value;
  std::uint64_t value_uid = 0;
};

struct SeriesMeaning {
  std::map<std::string, Bytes> metrics;                 // name to a TSUID that begins with its UID
  std::map<std::uint64_t, ExpressionTag> tags;          // by key uid
  std::map<std::uint64_t, std::string> aggregate_tags;  // by key uid
  std::vector<Bytes> tsuids;

  // Adds the metrics and tags of another series of one row; existing tags do not change.
  void add(const SeriesMeaning& other);

  // The metric with the lowest UID; empty if there is none.
  [[nodiscard]] std::string first_metric() const;
};

struct ExpressionSeries {
  SeriesMeaning meaning;
  std::vector<TimestampMs> times;  // strictly ascending
  std::vector<double> values;      // NaN: no value
};

[[nodiscard]] SeriesMeaning meaning_of(const AnswerSeries& series);
[[nodiscard]] ExpressionSeries expression_series(const AnswerSeries& series);

}  // namespace halite::query
