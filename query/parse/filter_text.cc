#include "query/parse/filter_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/parse/refuse.h"
#include "query/parse/text.h"

namespace halite::query {
namespace {

using storage::FilterType;

// Without not_key: OpenTSDB 2.4 documents it but does not support it.
constexpr std::array kTypes = {
    FilterType::kLiteralOr,     FilterType::kILiteralOr, FilterType::kNotLiteralOr,
    FilterType::kNotILiteralOr, FilterType::kWildcard,   FilterType::kIWildcard,
    FilterType::kRegexp,
};

Result<Filter> checked(Filter filter, const storage::Regexps& regexps) {
  const auto matcher = storage::TagMatcher::compile(filter.filter, regexps);
  if (!matcher) return std::unexpected(matcher.error());
  return filter;
}

struct KeyValue {
  std::string_view key;
  std::string_view value;
};

Result<KeyValue> parse_pair(std::string_view text) {
  const auto parts = split_outside(text, '=');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return fail(Errc::kInvalidArgument, fmt::format("invalid tag: {}", text),
                fmt::format("expected <tag>=<value>, found \"{}\"", text));
  }
  return KeyValue{.key = parts[0], .value = parts[1]};
}

// Reads a filter without a check of its pattern.
Result<Filter> unchecked_filter(std::string_view type, std::string_view key,
                                std::string_view pattern, bool group_by) {
  if (type.empty()) return refuse("The filter type cannot be null or empty");
  if (key.empty()) return refuse("The tagk cannot be null or empty");
  const auto found = std::ranges::find(kTypes, type, storage::filter_type_name);
  if (found == kTypes.end()) {
    return refuse(fmt::format("Could not find a tag value filter of the type: {}", type));
  }
  return Filter{
      .filter = {.type = *found, .key = std::string(key), .pattern = std::string(pattern)},
      .group_by = group_by};
}

// Reads a value without a check of its pattern.
Result<Filter> read_value(std::string_view key, std::string_view value, bool group_by) {
  if (key.empty()) return refuse("Tagk cannot be null or empty");
  if (value.empty()) return refuse("Filter cannot be null or empty");
  if (value == "*") return unchecked_filter("wildcard", key, value, group_by);
  if (const std::size_t paren = value.find('('); paren != std::string_view::npos) {
    if (value.back() != ')') return refuse(fmt::format("Filter must end with a ')': {}", value));
    return unchecked_filter(to_lower(value.substr(0, paren)), key,
                            value.substr(paren + 1, value.size() - paren - 2), group_by);
  }
  if (!value.contains('*')) return unchecked_filter("literal_or", key, value, group_by);
  TRY(Filter filter, unchecked_filter("iwildcard", key, value, group_by));
  filter.bare_pattern = true;
  return filter;
}

// Reads a part of the braces; `what` names it in messages. An invalid regular expression is the
// client's mistake; OpenTSDB reports all else as internal.
Result<Filter> read_braces_part(std::string_view what, std::string_view text, bool group_by,
                                const storage::Regexps& regexps) {
  bool own_fault = false;
  const auto read = [&]() -> Result<Filter> {
    TRY(const KeyValue pair, parse_pair(text));
    TRY(Filter filter, read_value(pair.key, pair.value, group_by));
    own_fault = filter.filter.type == FilterType::kRegexp && !filter.filter.pattern.empty();
    return checked(std::move(filter), regexps);
  };
  Result<Filter> filter = read();
  if (filter) return filter;
  Error error = std::move(filter).error();
  if (!own_fault) error.code = Errc::kInternal;
  if (!error.details.empty()) {
    error.details = fmt::format("When parsing {} '{}': {}", what, text, error.details);
  }
  error.message = fmt::format("When parsing {} '{}': {}", what, text, error.message);
  return std::unexpected(std::move(error));
}

std::unexpected<Error> refuse_metric(std::string message) {
  return fail(Errc::kInternal, std::move(message));
}

}  // namespace

Result<Filter> make_filter(std::string_view type, std::string_view key, std::string_view pattern,
                           bool group_by, const storage::Regexps& regexps) {
  TRY(Filter filter, unchecked_filter(type, key, pattern, group_by));
  return checked(std::move(filter), regexps);
}

Result<Filter> filter_from_value(std::string_view key, std::string_view value, bool group_by,
                                 const storage::Regexps& regexps) {
  TRY(Filter filter, read_value(key, value, group_by));
  return checked(std::move(filter), regexps);
}

std::string_view shown_type(const Filter& filter) {
  return storage::filter_type_name(filter.bare_pattern ? FilterType::kWildcard
                                                       : filter.filter.type);
}

void add_group_by(Filter filter, std::vector<Filter>& filters) {
  const auto same = std::ranges::find(filters, filter.filter, &Filter::filter);
  if (same != filters.end()) {
    same->group_by = true;
    return;
  }
  filter.group_by = true;
  filters.push_back(std::move(filter));
}

Result<MetricAndFilters> parse_metric(std::string_view text, const storage::Regexps& regexps) {
  if (text.empty()) return refuse_metric("Metric cannot be null or empty");
  const std::size_t open = text.find('{');
  MetricAndFilters parsed{.metric = std::string(text.substr(0, open)), .filters = {}};
  if (open == std::string_view::npos) return parsed;
  if (text.back() != '}') return refuse_metric(fmt::format("Missing '}}' at the end of: {}", text));
  if (open == text.size() - 2) return parsed;

  std::size_t close = text.find('}');
  if (const std::size_t partner = find_close(text, open);
      close > open && partner != std::string_view::npos) {
    close = partner;  // the brace is not in a regular expression
  }
  const bool two_braces = close != text.size() - 1;
  if (two_braces) {
    std::size_t second = text.find('{', close);
    if (second == std::string_view::npos || find_close(text, second) != text.size() - 1) {
      second = text.rfind('{');
    }
    const std::string_view inside = text.substr(second + 1, text.size() - second - 2);
    for (const std::string_view part : split_outside(inside, ',')) {
      if (part.empty()) break;
      TRY(Filter filter, read_braces_part("filter", part, false, regexps));
      parsed.filters.push_back(std::move(filter));
    }
  }
  // A closing brace before an opening one leaves nothing in between.
  const std::string_view inside =
      close > open ? text.substr(open + 1, close - open - 1) : std::string_view();
  for (const std::string_view part : split_outside(inside, ',')) {
    if (part.empty() && two_braces) break;
    TRY(Filter filter, read_braces_part("tag", part, true, regexps));
    add_group_by(std::move(filter), parsed.filters);
  }
  return parsed;
}

}  // namespace halite::query
