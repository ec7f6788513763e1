#include "ingest/formats/graphite_path.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ingest/formats/labels.h"
#include "ingest/formats/shown.h"

namespace halite::ingest {

bool GraphitePath::is_path_of(const SeriesKey& known, std::string_view path) const {
  if (known.grammar != KeyGrammar::kGraphite || !path.starts_with(known.metric)) return false;
  const std::string_view rest = path.substr(known.metric.size());
  if (!known.tags.empty()) return rest.starts_with(';') && rest.substr(1) == known.tags;
  return rest.empty() && !has_templates();
}

std::expected<SeriesKey, std::string> GraphitePath::key(std::string_view path) {
  if (path.ends_with("\"}")) [[unlikely]] {
    if (const std::size_t brace = path.find('{'); brace != std::string_view::npos) {
      return SeriesKey{.grammar = KeyGrammar::kExposition,
                       .metric = path.substr(0, brace),
                       .tags = path.substr(brace + 1, path.size() - brace - 2)};
    }
  }
  if (path.contains('{') || path.contains('}')) [[unlikely]] {
    return std::unexpected("a brace in the path, which is not of labels: name{key=\"value\"}");
  }
  const std::size_t end = path.find(';');
  if (end != std::string_view::npos) {
    if (end + 1 == path.size()) return std::unexpected("the path ends with ';', without a tag");
    return SeriesKey{.grammar = KeyGrammar::kGraphite,
                     .metric = path.substr(0, end),
                     .tags = path.substr(end + 1)};
  }
  if (has_templates()) {
    if (path.contains('\0')) return std::unexpected("the path has a zero byte");
    if (templates_->apply(path, buffers_, names_)) return names_.key();
  }
  return SeriesKey{.grammar = KeyGrammar::kGraphite, .metric = path, .tags = {}};
}

std::expected<SeriesName, Refused> GraphitePath::series_name(const SeriesKey& key) const {
  if (key.grammar == KeyGrammar::kNames) {
    return free_series(std::string(key.metric), tags_of_names(key.tags), limits_);
  }
  if (key.grammar == KeyGrammar::kExposition) {
    return parse_labels(key.metric, key.tags, Escapes::kExposition, limits_);
  }
  std::vector<Tag> tags;
  for (std::string_view rest = key.tags; !key.tags.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view tag = rest.substr(0, end);
    if (!is_graphite_tag(tag)) {
      const std::size_t equals = tag.find('=');
      std::string_view why = "has a key with '!' or '^'";
      if (equals == std::string_view::npos) {
        why = "has no '='";
      } else if (equals == 0) {
        why = "has no key";
      } else if (equals + 1 == tag.size()) {
        why = "has no value";
      } else if (tag[equals + 1] == '~') {
        why = "has a value that begins with '~'";
      }
      return illegal(fmt::format("the tag {} {}", shown(tag), why));
    }
    const std::size_t equals = tag.find('=');
    tags.push_back(
        {.key = std::string(tag.substr(0, equals)), .value = std::string(tag.substr(equals + 1))});
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  return free_series(std::string(key.metric), std::move(tags), limits_);
}

void append_graphite_path(std::string& to, const SeriesName& name) {
  to += name.metric;
  for (const Tag& tag : name.tags) {
    to += ';';
    to += tag.key;
    to += '=';
    to += tag.value;
  }
}

}  // namespace halite::ingest
