#include "query/promql/eval/row_groups.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace halite::query::promql {
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
