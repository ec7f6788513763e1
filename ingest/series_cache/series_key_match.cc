#include "ingest/series_cache/series_key_match.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ingest/series_cache/label_fields.h"

namespace halite::ingest {
namespace {

// The tags of a series, each of which may be named once. Senders name them in a constant order,
// often that of the series, so the search begins behind the previous tag.
class UnnamedTags {
 public:
  explicit UnnamedTags(const storage::SeriesTags& tags) : tags_(tags) {}

  [[nodiscard]] bool take(std::string_view key, std::string_view value) {
    for (std::size_t tried = 0; tried < tags_.size(); ++tried) {
      const std::size_t at = next_;
      next_ = next_ + 1 == tags_.size() ? 0 : next_ + 1;
      const storage::SeriesTag& tag = tags_[at];
      if (tag.key != key) continue;
      const std::uint64_t bit = std::uint64_t{1} << at;
      if ((named_ & bit) != 0 || tag.value != value) return false;
      named_ |= bit;
      return true;
    }
    return false;
  }
  [[nodiscard]] bool empty() const {
    return static_cast<std::size_t>(std::popcount(named_)) == tags_.size();
  }

 private:
  const storage::SeriesTags& tags_;
  std::size_t next_ = 0;
  std::uint64_t named_ = 0;
};

constexpr std::size_t kTagsMax = 64;  // bits of UnnamedTags

bool take_words(std::string_view text, UnnamedTags& tags) {
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view value = word.substr(equals + 1);
    if (value.contains('=') || !tags.take(word.substr(0, equals), value)) return false;
  }
  return true;
}

// Reads the tokens of a JSON object of strings without escapes.
class ObjectText {
 public:
  explicit ObjectText(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool take(char wanted) {
    const std::size_t blanks = rest_.find_first_not_of(" \t\r\n");
    if (blanks == std::string_view::npos || rest_[blanks] != wanted) return false;
    rest_.remove_prefix(blanks + 1);
    return true;
  }
  [[nodiscard]] bool take_string(std::string_view& string) {
    if (!take('"')) return false;
    const std::size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) return false;
    string = rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    return true;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool take_object(std::string_view text, UnnamedTags& tags) {
  if (text.contains('\\')) return false;
  ObjectText object(text);
  if (!object.take('{')) return false;
  do {
    std::string_view key;
    std::string_view value;
    if (!object.take_string(key) || !object.take(':') || !object.take_string(value)) return false;
    if (!tags.take(key, value)) return false;
  } while (object.take(','));
  return object.take('}') && object.empty();
}

bool take_names(std::string_view text, UnnamedTags& tags) {
  while (!text.empty()) {
    const std::size_t key_end = text.find('\0');
    const std::size_t value_end = text.find('\0', key_end + 1);
    if (value_end == std::string_view::npos) return false;
    const std::string_view value = text.substr(key_end + 1, value_end - key_end - 1);
    if (!tags.take(text.substr(0, key_end), value)) return false;
    text.remove_prefix(value_end + 1);
  }
  return true;
}

bool is_influx_metric(std::string_view metric, std::string_view measurement,
                      std::string_view field) {
  if (!metric.starts_with(measurement)) return false;
  metric.remove_prefix(measurement.size());
  if (field == kInfluxValueField) return metric.empty();
  return metric.starts_with(kInfluxSeparator) && metric.substr(kInfluxSeparator.size()) == field;
}

// `text` is measurement,k=v,k=v. A tag with an empty value is none.
bool take_influx(const SeriesKey& key, std::string_view metric, UnnamedTags& tags) {
  std::string_view text = key.tags;
  if (text.contains('\\') || key.metric.contains('\\')) return false;
  const std::size_t measurement_end = std::min(text.find(','), text.size());
  if (!is_influx_metric(metric, text.substr(0, measurement_end), key.metric)) return false;
  text.remove_prefix(measurement_end);
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view tag = text.substr(0, end);
    text.remove_prefix(end);
    const std::size_t equals = tag.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const std::string_view value = tag.substr(equals + 1);
    if (value.contains('=')) return false;
    if (!value.empty() && !tags.take(tag.substr(0, equals), value)) return false;
  }
  return true;
}

// One label: takes a tag, or compares the metric.
bool take_label(std::string_view name, std::string_view value, std::string_view metric,
                bool& has_metric, UnnamedTags& tags) {
  if (name == kNameLabel) {
    if (has_metric) return false;
    has_metric = true;
    return value == metric;
  }
  return value.empty() || tags.take(name, value);
}

// Labels k="v",k="v" without escapes and quoted names.
bool take_labels(const SeriesKey& key, std::string_view metric, UnnamedTags& tags) {
  if (key.tags.contains('\\')) return false;
  bool has_metric = !key.metric.empty();
  if (has_metric && (key.metric != metric || !is_bare_name(metric))) return false;
  std::string_view text = key.tags;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t equals = text.find("=\"");
    if (equals == std::string_view::npos) return false;
    const std::string_view name = text.substr(0, equals);
    if (!is_bare_name(name)) return false;
    text.remove_prefix(equals + 2);
    const std::size_t quote = text.find('"');
    if (quote == std::string_view::npos) return false;
    if (!take_label(name, text.substr(0, quote), metric, has_metric, tags)) return false;
    text.remove_prefix(quote + 1);
    if (!text.empty() && text.front() != ',') return false;
    if (!text.empty()) text.remove_prefix(1);
  }
  return has_metric;
}

bool take_vm_object(std::string_view text, std::string_view metric, UnnamedTags& tags) {
  if (text.contains('\\')) return false;
  ObjectText object(text);
  if (!object.take('{')) return false;
  bool has_metric = false;
  do {
    std::string_view name;
    std::string_view value;
    if (!object.take_string(name) || !object.take(':') || !object.take_string(value)) return false;
    if (!take_label(name, value, metric, has_metric, tags)) return false;
  } while (object.take(','));
  return has_metric && object.take('}') && object.empty();
}

bool take_label_fields(std::string_view text, std::string_view metric, UnnamedTags& tags) {
  LabelFields labels(text);
  bool has_metric = false;
  while (labels.next()) {
    if (!take_label(labels.name(), labels.value(), metric, has_metric, tags)) return false;
  }
  return has_metric && !labels.fault();
}

// Tags k=v;k=v. A value may contain '='.
bool take_graphite(std::string_view text, UnnamedTags& tags) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view tag = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!is_graphite_tag(tag)) return false;
    const std::size_t equals = tag.find('=');
    if (!tags.take(tag.substr(0, equals), tag.substr(equals + 1))) return false;
  }
  return true;
}

bool take_names_of(const SeriesKey& key, std::string_view metric, UnnamedTags& tags) {
  switch (key.grammar) {
    case KeyGrammar::kPutLine:
      return key.metric == metric && take_words(key.tags, tags);
    case KeyGrammar::kJson:
      return key.metric == metric && !metric.contains('\\') && take_object(key.tags, tags);
    case KeyGrammar::kNames:
      return key.metric == metric && take_names(key.tags, tags);
    case KeyGrammar::kInflux:
      return take_influx(key, metric, tags);
    case KeyGrammar::kExposition:
    case KeyGrammar::kPromDump:
      return take_labels(key, metric, tags);
    case KeyGrammar::kGraphite:
      return key.metric == metric && take_graphite(key.tags, tags);
    case KeyGrammar::kVmJson:
      return take_vm_object(key.tags, metric, tags);
    case KeyGrammar::kLabelFields:
      return take_label_fields(key.tags, metric, tags);
  }
  return false;
}

}  // namespace

bool names_series(const SeriesKey& key, const storage::Series& series) {
  if (series.tags.size() > kTagsMax) return false;
  UnnamedTags tags(series.tags);
  return take_names_of(key, series.metric, tags) && tags.empty();
}

}  // namespace halite::ingest
