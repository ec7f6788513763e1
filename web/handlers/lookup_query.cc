#include "web/handlers/lookup_query.h"

#include <algorithm>
#include <map>

#include "common/bytes/read_number.h"
#include "web/json/json_in.h"

namespace halite::web {

namespace {

std::string unless_star(std::string_view text) { return text == "*" ? "" : std::string(text); }

bool any(std::string_view text) { return text.empty() || text == "*"; }

Result<std::int64_t> parse_limit(std::string_view text) {
  std::int64_t value = 0;
  if (!read_number(text, value)) {
    return fail(Errc::kInvalidArgument, "Unable to convert 'limit' to a valid number");
  }
  return value;
}

Result<void> parse_tags(std::string_view text, LookupQuery& query) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.find('=', equals + 1) != std::string_view::npos) {
      return fail(Errc::kInvalidArgument, "Unable to parse query",
                  "invalid tag: " + std::string(pair));
    }
    query.tags.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return {};
}

Result<void> parse_expression(std::string_view text, LookupQuery& query) {
  const std::size_t brace = text.find('{');
  query.metric_text = text.substr(0, brace);
  query.metric = unless_star(query.metric_text);
  if (brace == std::string_view::npos) return {};
  if (text.back() != '}') {
    return fail(Errc::kInvalidArgument, "Unable to parse query",
                "Missing '}' at the end of: " + std::string(text));
  }
  return parse_tags(text.substr(brace + 1, text.size() - brace - 2), query);
}

void sort_out(LookupQuery& query) {
  for (const auto& [key, value] : query.tags) {
    if (any(key) && !any(value)) query.any_key_values.push_back(value);
  }
}

}  // namespace

Result<LookupQuery> parse_lookup_uri(const Target& target) {
  const std::string_view text = target.get("m");
  if (text.empty()) {
    return fail(Errc::kInvalidArgument, "Missing parameter <code>m</code>");
  }
  LookupQuery query;
  query.show_tags = true;
  TRY_VOID(parse_expression(text, query));
  if (query.metric.empty() && query.tags.empty() && !text.starts_with('*')) {
    return fail(Errc::kInvalidArgument,
                "Missing metric and tags. Please supply at least one value.");
  }
  if (const std::string_view limit = target.get("limit"); !limit.empty()) {
    TRY(query.limit, parse_limit(limit));
  }
  query.start = target.get("start");
  query.end = target.get("end");
  sort_out(query);
  return query;
}

Result<LookupQuery> parse_lookup_post(std::string_view body) {
  TRY(LookupBody parsed, parse_lookup_body(body));
  LookupQuery query;
  query.metric_text = parsed.fields["metric"];
  query.metric = unless_star(query.metric_text);
  query.show_tags = parsed.has_tags;
  query.tags = std::move(parsed.tags);
  if (const std::string& limit = parsed.fields["limit"]; !limit.empty()) {
    TRY(query.limit, parse_limit(limit));
  }
  query.start = parsed.fields["start"];
  query.end = parsed.fields["end"];
  sort_out(query);
  return query;
}

storage::SeriesQuery series_query(const LookupQuery& query, const std::string& metric) {
  storage::SeriesQuery wanted{
      .metric = metric, .filters = {}, .explicit_tags = false, .tsuids = {}};
  std::map<std::string, std::string> values;  // of one key: OR-ed
  std::vector<std::string> any_value;
  for (const auto& [key, value] : query.tags) {
    if (any(key)) continue;
    if (any(value)) {
      any_value.push_back(key);
    } else {
      std::string& pattern = values[key];
      if (!pattern.empty()) pattern += '|';
      pattern += value;
    }
  }
  for (const std::string& key : any_value) {
    values.erase(key);  // any value, including the named ones
    wanted.filters.push_back({storage::FilterType::kWildcard, key, "*"});
  }
  for (const auto& [key, pattern] : values) {
    wanted.filters.push_back({storage::FilterType::kLiteralOr, key, pattern});
  }
  return wanted;
}

bool fits_any_key(const LookupQuery& query, const storage::Series& series) {
  return std::ranges::all_of(query.any_key_values, [&](const std::string& value) {
    return std::ranges::any_of(series.tags,
                               [&](const storage::SeriesTag& tag) { return tag.value == value; });
  });
}

}  // namespace halite::web
