#include "web/handlers/prometheus_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/json_string.h"
#include "ingest/formats/times.h"
#include "ingest/rules/point_rules.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/promql/number.h"
#include "query/promql/parse.h"
#include "web/http/form.h"
#include "web/json/error_map.h"

namespace halite::web {
namespace {

// As client_golang writes the least and the greatest time.
constexpr std::string_view kMinTimeText = "-292273086-05-16T16:47:06Z";
constexpr std::string_view kMaxTimeText = "292277025-08-18T07:12:54.999999999Z";

std::optional<double> read_float(std::string_view text) {
  const Result<double> seconds = query::promql::parse_float(text);
  if (!seconds || std::isnan(*seconds)) return std::nullopt;
  return *seconds;
}

TimestampMs ms_of(double seconds) {
  constexpr auto kSecondsMax = static_cast<double>(kPrometheusTimeMax / 1000);
  if (seconds >= kSecondsMax) return kPrometheusTimeMax;
  if (seconds <= -kSecondsMax) return -kPrometheusTimeMax;
  double whole = 0;
  const double fraction = std::modf(seconds, &whole);
  return static_cast<TimestampMs>(whole) * 1000 +
         static_cast<TimestampMs>(std::round(fraction * 1000));
}

std::optional<TimestampMs> read_prometheus_time(std::string_view text) {
  if (const auto seconds = read_float(text)) return ms_of(*seconds);
  constexpr std::size_t kDateBytes = std::string_view("2015-07-01").size();
  const bool has_t = text.size() > kDateBytes && text[kDateBytes] == 'T';
  constexpr std::size_t kSecondsAt = std::string_view("2015-07-01T20:10:").size();
  const bool leaps = text.size() > kSecondsAt && text.substr(kSecondsAt).starts_with("60");
  if (const auto time = ingest::read_rfc3339(text); time && has_t && !leaps) return time;
  if (text == kMinTimeText) return -kPrometheusTimeMax;
  if (text == kMaxTimeText) return kPrometheusTimeMax;
  return std::nullopt;
}

Error bad_value(std::string message) { return {Errc::kInvalidArgument, std::move(message), {}}; }

}  // namespace

Result<PrometheusParameters> PrometheusParameters::of(const Call& call) {
  PrometheusParameters parameters;
  Result<Parameters> form = form_fields(call.request);
  if (!form) {
    return std::unexpected(bad_value("error parsing form values: " + form.error().message));
  }
  parameters.parameters_ = *std::move(form);
  const Parameters& uri = call.target.parameters;
  parameters.parameters_.insert(parameters.parameters_.end(), uri.begin(), uri.end());
  return parameters;
}

std::string_view PrometheusParameters::get(std::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) return value;
  }
  return {};
}

std::vector<std::string_view> PrometheusParameters::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : parameters_) {
    if (key == name) values.emplace_back(value);
  }
  return values;
}

Result<TimestampMs> PrometheusParameters::time(std::string_view name) const {
  const std::string_view text = get(name);
  if (const std::optional<TimestampMs> time = read_prometheus_time(text)) return *time;
  return std::unexpected(
      bad_value(fmt::format("cannot parse {} to a valid timestamp", json_string(text))));
}

Result<TimestampMs> PrometheusParameters::time_or(std::string_view name,
                                                  TimestampMs otherwise) const {
  if (get(name).empty()) return otherwise;
  Result<TimestampMs> read = time(name);
  if (read) return read;
  return std::unexpected(
      bad_value(fmt::format("invalid time value for '{}': {}", name, read.error().message)));
}

Result<std::int64_t> PrometheusParameters::duration(std::string_view name) const {
  const std::string_view text = get(name);
  if (const std::optional<double> seconds = read_float(text)) {
    if (std::fabs(*seconds) > query::promql::kDurationSecondsMax) {
      return std::unexpected(bad_value(fmt::format(
          "cannot parse {} to a valid duration. It overflows int64", json_string(text))));
    }
    return static_cast<std::int64_t>(*seconds * 1000);
  }
  if (const Result<std::int64_t> ms = query::promql::parse_duration(text)) return *ms;
  return std::unexpected(
      bad_value(fmt::format("cannot parse {} to a valid duration", json_string(text))));
}

Result<std::size_t> PrometheusParameters::limit() const {
  const std::string_view text = get("limit");
  if (text.empty()) return std::size_t{0};
  // As Go reads it: with a '+' in front, too.
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  const std::string_view digits = plus ? text.substr(1) : text;
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  if (error == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
    return std::unexpected(
        bad_value(fmt::format("strconv.Atoi: parsing {}: value out of range", json_string(text))));
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return std::unexpected(
        bad_value(fmt::format("strconv.Atoi: parsing {}: invalid syntax", json_string(text))));
  }
  if (limit < 0) return std::unexpected(bad_value("limit must be non-negative"));
  return static_cast<std::size_t>(limit);
}

Result<std::vector<query::Selector>> PrometheusParameters::selectors(const Call& call) const {
  const query::promql::ParseOptions options = call.services.engine.promql_options();
  const std::size_t selectors_max = call.services.engine.limits().sub_queries_max;
  std::vector<query::Selector> selectors;
  for (const std::string_view text : all("match[]")) {
    if (selectors.size() == selectors_max) {
      return std::unexpected(
          bad_value(fmt::format("more than {} match[] (query.sub_queries_max)", selectors_max)));
    }
    TRY(query::Selector selector, query::promql::parse_series_selector(text, options));
    selectors.push_back(std::move(selector));
  }
  for (const query::Selector& selector : selectors) {
    if (std::ranges::all_of(selector.matchers, &query::LabelMatcher::matches_absent)) {
      return std::unexpected(bad_value("match[] must contain at least one non-empty matcher"));
    }
  }
  return selectors;
}

TimeRange closed_range(TimestampMs first, TimestampMs last) {
  const TimestampMs begin = std::max<TimestampMs>(first, 0);
  return {.begin = begin, .end = std::max(begin, std::min(last, ingest::kTimestampMax) + 1)};
}

Error invalid_parameter(std::string_view name, const Error& error) {
  return bad_value(fmt::format("invalid parameter \"{}\": {}", name, error.message));
}

Response bad_data(const Error& error) { return prometheus_error(400, "bad_data", error.message); }

Response promql_error(const Error& error) {
  if (error.details == query::kBadExpression) return bad_data(invalid_parameter("query", error));
  switch (error.code) {
    case Errc::kInvalidArgument:
    case Errc::kTooLarge:
    case Errc::kUnsupported:
      return prometheus_error(422, "execution", error.message);
    case Errc::kTimeout:
      return prometheus_error(503, "timeout", "query timed out in expression evaluation");
    case Errc::kCancelled:
      return prometheus_error(499, "canceled", "query was canceled in expression evaluation");
    case Errc::kOverloaded:
    case Errc::kUnavailable:
      return prometheus_error(503, "unavailable", error.message);
    default:
      return prometheus_error(500, "internal", error.message);
  }
}

query::Question selectors_question(const std::vector<std::string_view>& selectors,
                                   TimeRange range) {
  query::Question question;
  question.begin = range.begin;
  question.end = range.end;
  for (const std::string_view text : selectors) {
    query::SubQuestion shown;
    shown.aggregator = "none";
    shown.metric = text;
    question.queries.push_back(std::move(shown));
  }
  return question;
}

}  // namespace halite::web
