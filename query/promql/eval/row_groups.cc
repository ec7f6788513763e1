#include "query/promql/eval/row_groups.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace halite::query::promql {
namespace {

std::string_view label_of(const storage::Series& series, std::string_view name) {
  if (name == kMetricLabel) return series.metric.text();
  const auto tag = std::ranges::find(series.tags, name, &storage::SeriesTag::key);
  return tag == series.tags.end() ? std::string_view() : tag->value;
}

}  // namespace

RowGroups::RowGroups(std::vector<std::string> names, bool listed)
    : names_(std::move(names)), listed_(listed) {
  if (!listed_) names_.emplace_back("__name__");
  std::ranges::sort(names_);
  const auto repeated = std::ranges::unique(names_);
  names_.erase(repeated.begin(), repeated.end());
}

std::uint32_t RowGroups::of(const Labels& labels) {
  key_.clear();
  if (listed_) {
    append_listed(labels);
  } else {
    append_others(labels);
  }
  return numbers_.number(key_);
}

std::uint32_t RowGroups::of(const storage::Series& series, bool names_count) {
  if (listed_) {
    key_.clear();
    append_listed(series, names_count);
    return numbers_.number(key_);
  }
  Labels labels = Labels::of(series);
  if (!names_count) labels.drop_name();
  return of(labels);
}

Labels RowGroups::reduce(Labels labels) const {
  if (listed_) {
    labels.keep_only(names_);
  } else {
    labels.erase_all(names_);
  }
  return labels;
}

void RowGroups::append_listed(const Labels& labels) {
  auto label = labels.begin();
  for (const std::string& name : names_) {
    while (label != labels.end() && label->name < name) ++label;
    const bool has = label != labels.end() && label->name == name;
    append_key_part(key_, has ? label->value : std::string_view());
  }
}

void RowGroups::append_listed(const storage::Series& series, bool names_count) {
  for (const std::string& name : names_) {
    const bool counts = names_count || std::ranges::find(kNameLabels, name) == kNameLabels.end();
    append_key_part(key_, counts ? label_of(series, name) : std::string_view());
  }
}

void RowGroups::append_others(const Labels& labels) {
  auto name = names_.begin();
  for (const Label& label : labels) {
    while (name != names_.end() && *name < label.name) ++name;
    if (name != names_.end() && *name == label.name) continue;
    append_key_part(key_, label.name);
    append_key_part(key_, label.value);
  }
}

}  // namespace halite::query::promql
