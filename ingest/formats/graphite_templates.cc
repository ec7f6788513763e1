#include "ingest/formats/graphite_templates.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "ingest/formats/shown.h"
#include "ingest/series_cache/series_key.h"

namespace halite::ingest {
namespace {

constexpr std::string_view kAnyWord = "*";
constexpr std::string_view kWhitespace = " \t\r\v\f";

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

// A name before '*', and a longer filter before a shorter one.
bool fits_better(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  const std::size_t common = std::min(one.size(), other.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (one[i] == other[i]) continue;
    if (one[i] == kAnyWord || other[i] == kAnyWord) return other[i] == kAnyWord;
    return one[i] < other[i];
  }
  return one.size() > other.size();
}

}  // namespace

std::expected<GraphiteTemplates, std::string> GraphiteTemplates::parse(std::string_view text) {
  GraphiteTemplates parsed;
  for (const std::string_view line : split(text, ";\n")) {
    const std::string_view part = trim(line, kWhitespace);
    if (part.empty()) continue;
    if (parsed.templates_.size() == kTemplatesMax) {
      return std::unexpected(fmt::format("there are more than {} templates", kTemplatesMax));
    }
    auto one = parse_one(part);
    if (!one) return std::unexpected(fmt::format("the template {} {}", shown(part), one.error()));
    const auto twice = std::ranges::find(parsed.templates_, one->filter, &Template::filter);
    if (twice != parsed.templates_.end()) {
      return std::unexpected(fmt::format("the template {} {}", shown(part),
                                         one->filter.empty() ? "is the second without a filter"
                                                             : "has the filter of another one"));
    }
    parsed.templates_.push_back(*std::move(one));
  }
  std::ranges::sort(parsed.templates_, fits_better, &Template::filter);
  return parsed;
}

std::expected<GraphiteTemplates::Template, std::string> GraphiteTemplates::parse_one(
    std::string_view text) {
  std::vector<std::string_view> parts = split(text, kWhitespace);
  std::erase(parts, std::string_view());
  if (!is_utf8(text)) return std::unexpected("is not UTF-8");
  if (text.contains('\0')) return std::unexpected("has a zero byte");
  Template parsed;
  std::string_view defaults;
  if (parts.size() > 1 && parts.back().contains('=')) {
    defaults = parts.back();
    parts.pop_back();
  }
  if (parts.size() > 2) return std::unexpected("has more parts than filter, template and tags");
  if (parts.size() == 2) {
    const auto words = split(parts.front(), ".");
    if (words.size() > kWordsMax) {
      return std::unexpected(fmt::format("has a filter of more than {} words", kWordsMax));
    }
    for (const std::string_view word : words) {
      if (word.contains('*') && word != kAnyWord) {
        return std::unexpected(
            fmt::format("has the word {} in its filter: '*' stands for a whole word", shown(word)));
      }
      parsed.filter.emplace_back(word);
    }
  }
  const auto words = split(parts.back(), ".");
  if (words.size() > kWordsMax) {
    return std::unexpected(fmt::format("has more than {} words", kWordsMax));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word.empty()) continue;
    const bool rest = word == "measurement*" || word == "field*";
    if (rest) {
      if (i + 1 != words.size()) {
        return std::unexpected(fmt::format("has words behind {}, which takes the rest", word));
      }
      word.remove_suffix(1);
    }
    if (word.contains('*') || word.contains('=')) {
      return std::unexpected(fmt::format("has the word {}, which is no tag key", shown(word)));
    }
    Source* to = nullptr;
    if (word == "measurement") {
      to = &parsed.measurement;
    } else if (word == "field") {
      to = &parsed.field;
    } else {
      const auto known = std::ranges::find(parsed.tags, word, &Source::key);
      to = known != parsed.tags.end()
               ? &*known
               : &parsed.tags.emplace_back(Source{.key = std::string(word), .words = {}});
    }
    to->words.push_back(i);
    to->rest = rest;
  }
  if (parsed.measurement.words.empty()) return std::unexpected("has no word \"measurement\"");
  if (defaults.empty()) return parsed;
  for (const std::string_view tag : split(defaults, ",")) {
    const std::size_t equals = std::min(tag.find('='), tag.size());
    const std::string_view key = tag.substr(0, equals);
    if (key.empty() || equals + 1 >= tag.size()) {
      return std::unexpected(fmt::format("has the tag {}, which is not key=value", shown(tag)));
    }
    if (std::ranges::find(parsed.tags, key, &Source::key) != parsed.tags.end() ||
        std::ranges::find(parsed.defaults, key, &Tag::key) != parsed.defaults.end()) {
      return std::unexpected(fmt::format("has the tag key {} twice", shown(key)));
    }
    parsed.defaults.push_back(
        {.key = std::string(key), .value = std::string(tag.substr(equals + 1))});
  }
  return parsed;
}

bool GraphiteTemplates::fits(const Template& one, const std::vector<std::string_view>& words) {
  if (one.filter.size() > words.size()) return false;
  for (std::size_t i = 0; i < one.filter.size(); ++i) {
    if (one.filter[i] != kAnyWord && one.filter[i] != words[i]) return false;
  }
  return true;
}

void GraphiteTemplates::append(const Source& source, const std::vector<std::string_view>& words,
                               std::string& to) {
  const auto add = [&](std::size_t at) {
    if (words[at].empty()) return;
    if (!to.empty()) to += '.';
    to += words[at];
  };
  for (const std::size_t at : source.words) {
    if (at < words.size()) add(at);
  }
  if (!source.rest) return;
  for (std::size_t at = source.words.back() + 1; at < words.size(); ++at) add(at);
}

bool GraphiteTemplates::apply(std::string_view path, Buffers& buffers, NamesKey& to) const {
  std::vector<std::string_view>& words = buffers.words;
  words.clear();
  for (std::string_view rest = path;;) {
    const std::size_t dot = rest.find('.');
    words.push_back(rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  const auto chosen =
      std::ranges::find_if(templates_, [&](const Template& one) { return fits(one, words); });
  if (chosen == templates_.end()) return false;
  buffers.metric.clear();
  append(chosen->measurement, words, buffers.metric);
  if (buffers.metric.empty()) return false;
  buffers.value.clear();
  append(chosen->field, words, buffers.value);
  if (!buffers.value.empty() && buffers.value != kInfluxValueField) {
    buffers.metric += kInfluxSeparator;
    buffers.metric += buffers.value;
  }
  to.begin(buffers.metric);
  for (const Source& tag : chosen->tags) {
    buffers.value.clear();
    append(tag, words, buffers.value);
    if (!buffers.value.empty()) to.add(tag.key, buffers.value);
  }
  for (const Tag& tag : chosen->defaults) to.add(tag.key, tag.value);
  return true;
}

}  // namespace halite::ingest
