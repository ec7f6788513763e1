// GET, POST /api/v1/series: the series that selectors name, by their labels.
// GET, POST /api/v1/labels: names of labels.
// GET, POST /api/v1/label/NAME/values: values of a label. U__a_2e_b is the name a.b.
//
// Parameters  match[]: selectors, which series needs; start, end: only series that may have points
//             there; limit: of the result. In the URI or in a form
// Answer      200 {"status":"success","data":[..]}, sorted, streamed; with a warning if `limit` cut
//             it
// Errors      as in promql_query.cc
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/engine/promql.h"
#include "query/selector/label_matcher.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/json/prometheus_json.h"
#include "web/metrics.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

enum class SelectorsNeed : std::uint8_t { kRequired, kOptional };

struct AskedSeries {
  query::SeriesQuestion question;
  std::vector<std::string> selectors;  // their texts
};

Result<AskedSeries> series_asked(const Call& call, SelectorsNeed selectors) {
  TRY(const PrometheusParameters parameters, PrometheusParameters::of(call));
  const bool required = selectors == SelectorsNeed::kRequired;
  if (required && parameters.all("match[]").empty()) {
    return fail(Errc::kInvalidArgument, "no match[] parameter provided");
  }
  AskedSeries asked;
  query::SeriesQuestion& question = asked.question;
  const Result<std::size_t> limit = parameters.limit();
  if (!limit) return std::unexpected(invalid_parameter("limit", limit.error()));
  question.limit = *limit;
  const Result<TimestampMs> start = parameters.time_or("start", -kPrometheusTimeMax);
  if (!start) return std::unexpected(invalid_parameter("start", start.error()));
  const Result<TimestampMs> end = parameters.time_or("end", kPrometheusTimeMax);
  if (!end) return std::unexpected(invalid_parameter("end", end.error()));
  question.range = closed_range(*start, *end);
  question.bounded = !parameters.get("start").empty() || !parameters.get("end").empty();
  Result<std::vector<query::Selector>> read = parameters.selectors(call);
  if (!read && required) return std::unexpected(invalid_parameter("match[]", read.error()));
  TRY(question.selectors, std::move(read));
  for (const std::string_view text : parameters.all("match[]")) asked.selectors.emplace_back(text);
  return asked;
}

// As the log of queries shows it. Without selectors, the series are those with the label.
QueryLog::RunningQuery begin_log(Call& call, const AskedSeries& asked, std::string_view label) {
  std::vector<std::string> all = asked.selectors;
  if (all.empty()) all.push_back(fmt::format("{{{}!=\"\"}}", json_string(label)));
  const std::vector<std::string_view> texts(all.begin(), all.end());
  return call.metrics.queries.begin(selectors_question(texts, asked.question.range), call.request,
                                    call.services.clock, call.stop, call.trace);
}

Response list_response(std::size_t size, PrometheusListSource::Write write, bool truncated) {
  PrometheusNotes notes;
  if (truncated) notes.warnings.emplace_back(kTruncatedByLimit);
  Response response;
  response.content_type = kPrometheusJsonType;
  response.source =
      std::make_unique<PrometheusListSource>(size, std::move(write), std::move(notes));
  return response;
}

Response refused(QueryLog::RunningQuery& logged, const Error& error) {
  Response response = promql_error(error);
  logged.finish(response.status, error.message, {});
  return response;
}

Response names_response(QueryLog::RunningQuery& logged, Result<query::FoundNames> found) {
  if (!found) return refused(logged, found.error());
  logged.finish(200, "", found->cost);
  const std::size_t size = found->names.size();
  const bool truncated = found->truncated;
  auto write = [names = std::move(found->names), room = found->room](
                   std::string& to, std::size_t i) { append_prometheus_text(to, names[i]); };
  return list_response(size, std::move(write), truncated);
}

// The name that U__ marks as escaped: _2e_ is the character U+002E, __ is _. A name with a wrong
// escape is as it is.
std::string unescape_name(std::string_view name) {
  constexpr std::string_view kMark = "U__";
  constexpr std::size_t kDigitsMax = 6;
  if (!name.starts_with(kMark)) return std::string(name);
  std::string plain;
  std::string_view rest = name.substr(kMark.size());
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c != '_') {
      plain += c;
      continue;
    }
    const std::size_t digits = rest.find('_');
    if (digits == std::string_view::npos || digits > kDigitsMax) return std::string(name);
    if (digits == 0) {
      plain += '_';
    } else {
      char32_t code_point = 0;
      for (const char digit : rest.substr(0, digits)) {
        if (hex_digit(digit) < 0) return std::string(name);
        code_point = code_point * 16 + static_cast<char32_t>(hex_digit(digit));
      }
      const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
      if (code_point > 0x10FFFF || surrogate) return std::string(name);
      append_utf8(plain, code_point);
    }
    rest.remove_prefix(digits + 1);
  }
  return plain;
}

}  // namespace

asio::awaitable<Response> handle_promql_series(Call& call) {
  Result<AskedSeries> asked = series_asked(call, SelectorsNeed::kRequired);
  if (!asked) co_return bad_data(asked.error());
  QueryLog::RunningQuery logged = begin_log(call, *asked, query::kMetricLabel);
  auto finding = call.services.engine.find_series(std::move(asked->question), logged.context());
  Result<std::shared_ptr<const query::FoundSeries>> found = co_await std::move(finding);
  if (!found) co_return refused(logged, found.error());
  const query::FoundSeries& all = **found;
  logged.finish(200, "", all.cost);
  auto write = [found = *found](std::string& to, std::size_t i) {
    append_prometheus_labels(to, found->series[i]);
  };
  co_return list_response(all.series.size(), std::move(write), all.truncated);
}

asio::awaitable<Response> handle_promql_labels(Call& call) {
  Result<AskedSeries> asked = series_asked(call, SelectorsNeed::kOptional);
  if (!asked) co_return bad_data(asked.error());
  QueryLog::RunningQuery logged = begin_log(call, *asked, query::kMetricLabel);
  auto finding = call.services.engine.label_names(std::move(asked->question), logged.context());
  Result<query::FoundNames> found = co_await std::move(finding);
  co_return names_response(logged, std::move(found));
}

asio::awaitable<Response> handle_promql_label_values(Call& call) {
  std::string label = unescape_name(call.target.rest.front());
  if (!is_utf8(label)) {
    co_return prometheus_error(
        400, "bad_data", fmt::format("invalid label name: {}", json_string(repair_utf8(label))));
  }
  Result<AskedSeries> asked = series_asked(call, SelectorsNeed::kOptional);
  if (!asked) co_return bad_data(asked.error());
  QueryLog::RunningQuery logged = begin_log(call, *asked, label);
  auto finding = call.services.engine.label_values(std::move(label), std::move(asked->question),
                                                   logged.context());
  Result<query::FoundNames> found = co_await std::move(finding);
  co_return names_response(logged, std::move(found));
}

}  // namespace halite::web
