#include "query/promql/eval/labels.h"

#include <algorithm>
#include <cstdint>

#include "query/promql/go_text.h"
#include "query/promql/print.h"

namespace halite::query::promql {
namespace {

// Keeps the labels that `names`, sorted, list, or those that it does not list.
void filter_labels(std::vector<Label>& labels, std::span<const std::string> names,
                   bool listed_stay) {
  auto name = names.begin();
  std::erase_if(labels, [&](const Label& label) {
    while (name != names.end() && *name < label.name) ++name;
    const bool listed = name != names.end() && *name == label.name;
    return listed != listed_stay;
  });
}

}  // namespace

void append_key_part(std::string& to, std::string_view part) {
  const auto size = static_cast<std::uint32_t>(part.size());
  to.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
}

std::size_t name_labels(const storage::Series& series) {
  std::size_t count = series.metric.text().empty() ? 0 : 1;
  for (const storage::SeriesTag& tag : series.tags) {
    if (tag.value.empty() || tag.key == kMetricLabel || !tag.key.starts_with("__")) continue;
    if (std::ranges::find(kNameLabels, tag.key) != kNameLabels.end()) ++count;
  }
  return count;
}

Labels::Labels(std::vector<Label> labels) : labels_(std::move(labels)) {
  std::erase_if(labels_, [](const Label& label) { return label.value.empty(); });
  std::ranges::sort(labels_, {}, &Label::name);
}

Labels Labels::of(const storage::Series& series) {
  Labels labels;
  std::vector<Label>& all = labels.labels_;
  all.reserve(series.tags.size() + 1);
  if (const std::string_view metric = series.metric.text(); !metric.empty()) {
    all.push_back({.name = kMetricLabel, .value = metric});
  }
  // They are few, and tags made together come in nearly this order.
  for (const storage::SeriesTag& tag : series.tags) {
    if (tag.value.empty() || tag.key == kMetricLabel) continue;
    all.push_back({.name = tag.key, .value = tag.value});
    for (std::size_t i = all.size() - 1; i > 0 && all[i].name < all[i - 1].name; --i) {
      std::swap(all[i], all[i - 1]);
    }
  }
  return labels;
}

std::string_view Labels::get(std::string_view name) const {
  const auto found = std::ranges::find(labels_, name, &Label::name);
  return found == labels_.end() ? std::string_view() : found->value;
}

void Labels::set(std::string_view name, std::string_view value) {
  if (value.empty()) {
    erase(name);
    return;
  }
  const auto at = std::ranges::lower_bound(labels_, name, {}, &Label::name);
  if (at != labels_.end() && at->name == name) {
    at->value = value;
  } else {
    labels_.insert(at, {.name = name, .value = value});
  }
}

void Labels::erase(std::string_view name) {
  const auto found = std::ranges::find(labels_, name, &Label::name);
  if (found != labels_.end()) labels_.erase(found);
}

void Labels::drop_name() {
  std::erase_if(labels_, [](const Label& label) {
    return label.name.starts_with("__") &&
           std::ranges::find(kNameLabels, label.name) != kNameLabels.end();
  });
}

void Labels::keep_only(std::span<const std::string> names) { filter_labels(labels_, names, true); }

void Labels::erase_all(std::span<const std::string> names) { filter_labels(labels_, names, false); }

void Labels::append_key(std::string& to) const {
  for (const Label& label : labels_) {
    append_key_part(to, label.name);
    append_key_part(to, label.value);
  }
}

std::string Labels::key() const {
  std::string key;
  append_key(key);
  return key;
}

std::string Labels::text() const {
  std::string text = "{";
  for (const Label& label : labels_) {
    if (text.size() > 1) text += ", ";
    if (is_plain_label(label.name)) {
      text += label.name;
    } else {
      append_quoted(text, label.name);
    }
    text += '=';
    append_quoted(text, label.value);
  }
  return text + '}';
}

}  // namespace halite::query::promql
