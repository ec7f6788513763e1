#include "ingest/otlp/series_labels.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "ingest/formats/shown.h"
#include "ingest/otlp/prometheus_names.h"
#include "ingest/series_cache/series_key.h"

namespace halite::ingest {
namespace {

constexpr std::string_view kJob = "job";
constexpr std::string_view kInstance = "instance";

bool has_zero(std::string_view text) {
  return !text.empty() && std::memchr(text.data(), '\0', text.size()) != nullptr;
}

// The value of the last attribute with this key; nothing without one.
std::optional<std::string_view> find(const Attributes& attributes, std::string_view key) {
  for (std::size_t i = attributes.size(); i-- > 0;) {
    if (attributes.key(i) == key) return attributes.value(i);
  }
  return std::nullopt;
}

}  // namespace

SeriesLabels::SeriesLabels(const IngestLimits& limits, std::vector<std::string> promoted)
    : tags_max_(limits.tags_max),
      bytes_max_(2 * (limits.name_bytes_max + 1) * limits.tags_max),
      promoted_keys_(std::move(promoted)) {}

void SeriesLabels::set_resource(const Attributes& attributes) {
  job_.clear();
  if (const auto name = find(attributes, "service.name")) {
    if (const auto space = find(attributes, "service.namespace")) {
      job_.append(*space).append("/");
    }
    job_ += *name;
  }
  instance_ = find(attributes, "service.instance.id").value_or("");
  promoted_.clear();
  for (const std::string& key : promoted_keys_) {
    const auto value = find(attributes, key);
    std::string name = label_name(key);
    if (!value || value->empty() || name.empty() || is_dropped(name, "")) continue;
    if (std::ranges::find(promoted_, name, &Tag::key) != promoted_.end()) continue;
    promoted_.push_back({.key = std::move(name), .value = std::string(*value)});
  }
  tags_.clear();
  resource_wrong_.reset();
  const auto add = [&](std::string_view label, std::string_view value) {
    if (value.empty()) return;
    if (has_zero(value)) {
      resource_wrong_ = fmt::format("the resource's {} has a zero byte", label);
    }
    append(label, value);
  };
  add(kJob, job_);
  add(kInstance, instance_);
  for (const Tag& tag : promoted_) add(tag.key, tag.value);
  std::swap(resource_tags_, tags_);
  known_ = 0;
  are_distinct_ = false;
  keys_wrong_.reset();
}

std::optional<std::string> SeriesLabels::set(const Attributes& attributes, std::string_view own) {
  if (resource_wrong_) return resource_wrong_;
  if (attributes.size() > tags_max_) {
    return fmt::format("{} attributes, at most {} are allowed (ingest.tags_max)", attributes.size(),
                       tags_max_);
  }
  if (!has_known_keys(attributes, own)) learn_keys(attributes, own);
  if (keys_wrong_) return keys_wrong_;
  std::size_t bytes = resource_tags_.size();
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    if (has_zero(attributes.value(i))) {
      return fmt::format("the attribute {} has a zero byte", shown(attributes.key(i)));
    }
    bytes += labels_[i].name.size() + attributes.value(i).size() + 2;
  }
  if (bytes > bytes_max_) {
    return fmt::format(
        "the tags have {} bytes, at most {} are allowed (ingest.tags_max, ingest.name_bytes_max)",
        bytes, bytes_max_);
  }
  if (are_distinct_) [[likely]] {
    append_all(attributes, bytes);
  } else {
    append_merged(attributes);
  }
  set_bytes_ = tags_.size();
  return std::nullopt;
}

bool SeriesLabels::has_known_keys(const Attributes& attributes, std::string_view own) const {
  if (known_ != attributes.size() || own_ != own) return false;
  for (std::size_t i = 0; i < known_; ++i) {
    if (labels_[i].key != attributes.key(i)) return false;
  }
  return true;
}

void SeriesLabels::learn_keys(const Attributes& attributes, std::string_view own) {
  known_ = attributes.size();
  own_ = own;
  keys_wrong_.reset();
  if (labels_.size() < known_) labels_.resize(known_);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < known_; ++i) {
    Label& label = labels_[i];
    label.key = attributes.key(i);
    label.name = label_name(label.key);
    label.dropped = is_dropped(label.name, own);
    if (label.name.empty()) {
      keys_wrong_ =
          fmt::format("the attribute {} has no name in letters and digits", shown(label.key));
    } else if (!label.dropped) {
      names.push_back(label.name);
    }
  }
  for (const Tag& tag : promoted_) names.push_back(tag.key);
  std::ranges::sort(names);
  are_distinct_ = std::ranges::adjacent_find(names) == names.end();
}

bool SeriesLabels::is_dropped(std::string_view label, std::string_view own) const {
  return label == kNameLabel || label == own || (label == kJob && !job_.empty()) ||
         (label == kInstance && !instance_.empty());
}

void SeriesLabels::append_all(const Attributes& attributes, std::size_t bytes_max) {
  tags_.resize_and_overwrite(bytes_max, [&](char* const begin, std::size_t) {
    char* to = begin;
    // The zero bytes of the labels are those behind every std::string.
    const auto copy = [&](const char* from, std::size_t size) {
      std::memcpy(to, from, size);
      to += size;
    };
    copy(resource_tags_.data(), resource_tags_.size());
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const std::string_view value = attributes.value(i);
      const Label& label = labels_[i];
      if (label.dropped || value.empty()) continue;
      copy(label.name.c_str(), label.name.size() + 1);
      copy(value.data(), value.size());
      *to++ = '\0';
    }
    return static_cast<std::size_t>(to - begin);
  });
}

void SeriesLabels::append_merged(const Attributes& attributes) {
  std::vector<std::size_t> order(attributes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(attributes.key(i), i); });
  std::vector<Tag> tags;
  for (const std::size_t i : order) {
    if (labels_[i].dropped) continue;
    const std::string_view value = attributes.value(i);
    const auto same = std::ranges::find(tags, labels_[i].name, &Tag::key);
    if (same == tags.end()) {
      tags.push_back({.key = labels_[i].name, .value = std::string(value)});
    } else if (same->value.empty()) {
      same->value = value;
    } else {
      same->value.append(";").append(value);
    }
  }
  tags_.clear();
  if (!job_.empty()) append(kJob, job_);
  if (!instance_.empty()) append(kInstance, instance_);
  const auto append_tag = [&](const Tag& tag) {
    if (!tag.value.empty()) append(tag.key, tag.value);
  };
  std::ranges::for_each(tags, append_tag);
  for (const Tag& tag : promoted_) {
    const auto own = std::ranges::find(tags, tag.key, &Tag::key);
    if (own == tags.end() || own->value.empty()) append_tag(tag);
  }
}

}  // namespace halite::ingest
