#include "ingest/telnet/put_line.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "ingest/rules/refusal.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

// A timestamp of up to 13 digits; parse_put_line() handles all others.
bool timestamp_fast(std::string_view word, std::int64_t& timestamp) {
  if (word.empty() || word.size() > 13) return false;
  std::int64_t value = 0;
  for (const char byte : word) {
    if (!is_digit(byte)) return false;
    value = (value * 10) + (byte - '0');
  }
  timestamp = value;
  return value > 0;
}

std::expected<TagMap, Refused> parse_tags(std::string_view text) {
  TagMap tags;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (word.empty()) continue;
    if (auto added = add_tag(tags, word); !added) return std::unexpected(std::move(added).error());
  }
  return tags;
}

struct Words {
  std::string_view metric;
  std::string_view timestamp;
  std::string_view value;
  std::string_view tags;
};

// Nothing if a word has no blank behind it.
std::optional<Words> split_words(std::string_view rest) {
  const auto metric = take_word(rest);
  const auto timestamp = metric ? take_word(rest) : std::nullopt;
  const auto value = timestamp ? take_word(rest) : std::nullopt;
  if (!value) return std::nullopt;
  return Words{.metric = *metric, .timestamp = *timestamp, .value = *value, .tags = rest};
}

// `words` are UTF-8.
std::expected<NamedPoint, Refused> parse_put_words(const Words& words, const PointRules& rules) {
  if (words.metric.empty()) return illegal("empty metric name");
  const auto timestamp = parse_line_timestamp(words.timestamp);
  if (!timestamp) {
    auto refused = refuse(RefusalReason::kInvalidValue, timestamp.error());
    refused.error().bad_time = true;
    return refused;
  }
  if (*timestamp <= 0) return illegal(fmt::format("invalid timestamp: {}", *timestamp));
  if (words.value.empty()) return illegal("empty value");
  auto tags = parse_tags(words.tags);
  if (!tags) return std::unexpected(std::move(tags).error());
  const auto value = parse_value(words.value);
  if (!value) return refuse(RefusalReason::kInvalidValue, value.error());
  return rules.validate(words.metric, *timestamp, *value, *std::move(tags), false);
}

std::expected<SeriesName, Refused> parse_series(std::string_view metric, std::string_view tags,
                                                const PointRules& rules) {
  auto parsed = parse_tags(tags);
  if (!parsed) return std::unexpected(std::move(parsed).error());
  return rules.validate_series(metric, *std::move(parsed));
}

}  // namespace

bool split_put_line(std::string_view line, PutPieces& pieces, std::string_view command) {
  line = without_return(line);
  if (!line.starts_with(command) || line.size() == command.size()) return false;
  if (line[command.size()] != ' ') return false;
  return split_point_words(line.substr(command.size() + 1), pieces);
}

bool split_point_words(std::string_view words, PutPieces& pieces) {
  std::string_view rest = words;
  const auto metric = take_word(rest);
  if (!metric || metric->empty()) return false;
  const auto timestamp_word = take_word(rest);
  std::int64_t timestamp = 0;
  if (!timestamp_word || !timestamp_fast(*timestamp_word, timestamp)) return false;
  const auto value_word = take_word(rest);
  Number value;
  if (!value_word || !parse_finite_value(*value_word, value)) return false;
  pieces.metric = *metric;
  pieces.tags = rest;
  pieces.time = to_ms(timestamp);
  pieces.value = value.bits;
  pieces.flags = point_flags(timestamp, value.is_float, false);
  return true;
}

std::expected<NamedPoint, Refused> parse_put_line(std::string_view line, const PointRules& rules,
                                                  std::string_view command) {
  line = without_return(line);
  const bool latin1 = !is_utf8(line);
  const std::string text = latin1 ? latin1_to_utf8(line) : std::string();
  const std::string_view utf8 = latin1 ? std::string_view(text) : line;
  const auto words = split_words(utf8.substr(std::min(command.size() + 1, utf8.size())));
  if (!words) {
    // "put" has no word, "put " has an empty one.
    const auto got = std::ranges::count(utf8, ' ');
    return illegal(fmt::format("not enough arguments (need least 4, got {})", got));
  }
  return parse_put_words(*words, rules);
}

std::expected<NamedPoint, Refused> parse_point_words(std::string_view text,
                                                     const PointRules& rules) {
  const bool latin1 = !is_utf8(text);
  const std::string utf8 = latin1 ? latin1_to_utf8(text) : std::string();
  const auto words = split_words(latin1 ? std::string_view(utf8) : text);
  if (!words) {
    return illegal(fmt::format("a line needs a metric, a time, a value and a tag, found {} words",
                               text.empty() ? 0 : std::ranges::count(text, ' ') + 1));
  }
  return parse_put_words(*words, rules);
}

std::expected<SeriesName, Refused> parse_put_series(std::string_view metric, std::string_view tags,
                                                    const PointRules& rules) {
  const bool latin1 = !is_utf8(metric) || !is_utf8(tags);
  const std::string metric_text = latin1 ? latin1_to_utf8(metric) : std::string();
  const std::string tags_text = latin1 ? latin1_to_utf8(tags) : std::string();
  return parse_series(latin1 ? metric_text : metric, latin1 ? tags_text : tags, rules);
}

}  // namespace halite::ingest
