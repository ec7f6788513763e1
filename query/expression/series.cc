#include "query/expression/series.h"

#include <algorithm>

namespace halite::query {

void SeriesMeaning::add(const SeriesMeaning& other) {
  metrics.insert(other.metrics.begin(), other.metrics.end());
  aggregate_tags.insert(other.aggregate_tags.begin(), other.aggregate_tags.end());
  tsuids.insert(tsuids.end(), other.tsuids.begin(), other.tsuids.end());
}

std::string SeriesMeaning::first_metric() const {
  const auto first = std::ranges::min_element(metrics, {}, [](const auto& m) { return m.second; });
  return first == metrics.end() ? std::string() : first->first;
}

SeriesMeaning meaning_of(const AnswerSeries& series) {
  SeriesMeaning meaning;
  meaning.metrics.emplace(series.metric, series.tsuids.empty() ? Bytes() : series.tsuids.front());
  for (const TagIds& ids : series.tag_ids) {
    const auto tag = series.tags.find(ids.key);
    if (tag == series.tags.end()) continue;
    meaning.tags.emplace(ids.key_uid, ExpressionTag{.key = ids.key,
                                                    .value = std::string(tag->second),
                                                    .value_uid = ids.value_uid});
  }
  for (const TagIds& ids : series.aggregate_tag_ids) {
    meaning.aggregate_tags.emplace(ids.key_uid, ids.key);
  }
  meaning.tsuids = series.tsuids;
  return meaning;
}

ExpressionSeries expression_series(const AnswerSeries& series) {
  ExpressionSeries result;
  result.meaning = meaning_of(series);
  result.times = series.times;
  result.values.reserve(series.values.size());
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    result.values.push_back(series.floats[i] ? as_double(series.values[i])
                                             : static_cast<double>(as_integer(series.values[i])));
  }
  return result;
}

}  // namespace halite::query
