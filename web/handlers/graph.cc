// GET /q: OpenTSDB's oldest query interface.
//
// Parameters  start, end, m, tz as in /api/query; one of ascii, json, png
// ascii       200 text, a line for each point: <metric> <epoch s> <value> k=v k=v. Without a
//             downsampler the whole hours around start and end, as OpenTSDB scans them; no NaN
// json        200 {"plotted":<points>,"points":<points>,"etags":[[..],..],"timing":<ms>}
// otherwise   Halite's page with the query: png redirects there (302), a browser gets a page that
//             leads there
// Caching     Cache-Control: max-age is 0 if the end is in the future; a day if it is more than an
//             hour ago and no bound is relative; else a thousandth of the time range
// Errors      as in /api/query; with --opentsdb-conf 500 for errors while it runs. {"err":".."}
//             with json, a page otherwise
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/java/java_double.h"
#include "common/java/java_map.h"
#include "common/json_string.h"
#include "common/units.h"
#include "query/answer.h"
#include "query/engine/engine.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_parse.h"
#include "web/handlers/handlers.h"
#include "web/handlers/query_errors.h"
#include "web/request_trace.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::uint32_t kPiecePoints = 2048;

// Extends the range to whole hours, as rows have them, for sub-queries without a downsampler.
void widen_to_hours(query::Question& question) {
  for (const query::SubQuestion& sub : question.queries) {
    if (sub.downsample) return;
  }
  question.begin -= question.begin % kHourMs;
  question.end += (kHourMs - question.end % kHourMs) % kHourMs;
}

// The lines of an answer, in pieces.
class AsciiSource final : public BodySource {
 public:
  explicit AsciiSource(std::shared_ptr<const query::Answer> answer) : answer_(std::move(answer)) {}

  bool next(std::string& to) override {
    if (series_ == answer_->series.size()) return false;
    const query::AnswerSeries& series = answer_->series[series_];
    if (point_ == 0) tags_ = tags_text(series);
    for (std::uint32_t n = 0; n < kPiecePoints && point_ < series.times.size(); ++n, ++point_) {
      line(to, series);
    }
    if (point_ == series.times.size()) {
      ++series_;
      point_ = 0;
    }
    return true;
  }

 private:
  static std::string tags_text(const query::AnswerSeries& series) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : series.tags) keys.emplace_back(key);
    std::string text;
    for (const std::string& key : java_map_order(keys, kJavaMapCapacity)) {
      text += fmt::format(" {}={}", key, series.tags.find(key)->second);
    }
    return text + '\n';
  }

  void line(std::string& to, const query::AnswerSeries& series) const {
    const ValueBits bits = series.values[point_];
    const bool is_float = series.floats[point_];
    if (is_float && std::isnan(as_double(bits))) return;
    to += fmt::format("{} {} ", series.metric, series.times[point_] / 1000);
    to += is_float ? java_double(as_double(bits)) : std::to_string(as_integer(bits));
    to += tags_;
  }

  std::shared_ptr<const query::Answer> answer_;
  std::string tags_;  // of the current series
  std::size_t series_ = 0;
  std::size_t point_ = 0;
};

std::string summary_json(const query::Answer& answer, std::int64_t took_ms) {
  std::size_t points = 0;
  std::vector<std::set<std::string>> etags(answer.question.queries.size());
  for (const query::AnswerSeries& series : answer.series) {
    points += series.times.size();
    etags[series.query_index].insert(series.aggregate_tags.begin(), series.aggregate_tags.end());
  }
  std::string json = fmt::format("{{\"plotted\":{0},\"points\":{0},\"etags\":[", points);
  for (std::size_t i = 0; i < etags.size(); ++i) {
    json += i == 0 ? "[" : ",[";
    bool first = true;
    for (const std::string& tag : etags[i]) {
      if (!std::exchange(first, false)) json += ',';
      append_json_string(json, tag);
    }
    json += ']';
  }
  return json + fmt::format("],\"timing\":{}}}", took_ms);
}

bool is_relative(std::string_view time) { return to_lower(time).ends_with("-ago"); }

// The seconds for which a browser may cache the answer.
std::int64_t max_age_s(const Target& target, const query::Question& question, TimestampMs now) {
  constexpr std::int64_t kDayS = 86'400;
  const std::int64_t end_s = (question.end - 1) / 1000;
  const std::int64_t now_s = now / 1000;
  if (end_s > now_s) return 0;
  const bool relative = is_relative(target.get("start")) || is_relative(target.get("end"));
  if (end_s < now_s - kHourMs / 1000 && !relative) return kDayS;
  return (end_s - question.begin / 1000) / 1024;
}

// The page keeps its query after the '#', in the syntax of /q.
Response lead_to_page(const Call& call) {
  const std::size_t mark = call.request.target.find('?');
  const std::string query = mark == std::string::npos ? "" : call.request.target.substr(mark + 1);
  const std::string location = "/#" + query;
  std::string escaped;
  for (const char c : location) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      default:
        escaped += c;
    }
  }
  Response response = text_response(
      call.target.has("png") ? 302 : 200,
      fmt::format("<!DOCTYPE html><html><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" "
                  "content=\"0; url={0}\"><title>Halite</title></head><body><a href=\"{0}\">Open "
                  "this query on the page</a></body></html>\n",
                  escaped),
      kHtmlType);
  response.headers.add("Location", location);
  return response;
}

}  // namespace

asio::awaitable<Response> handle_graph(Call& call) {
  const bool ascii = call.target.has("ascii");
  if (!ascii && !call.target.has("json")) co_return lead_to_page(call);
  const auto begin = std::chrono::steady_clock::now();
  const std::string_view zone = call.target.get("tz");
  query::ParseContext context = parse_context(call);
  if (!zone.empty()) context.timezone = zone;
  if (call.trace != nullptr) call.trace->set_query(call.target.get("m"));
  std::optional<SpanLog::Timed> timed(std::in_place, spans_of(call.trace).get(), "parse");
  Result<query::Question> question = query::parse_question_uri(call.target.parameters, context);
  timed.reset();
  if (!question) co_return question_error(call, question.error());
  const std::string cache_control =
      fmt::format("max-age={}", max_age_s(call.target, *question, context.now));
  if (ascii) widen_to_hours(*question);
  Result<std::shared_ptr<const query::Answer>> answer =
      co_await call.services.engine.run(std::move(*question), run_context(call));
  if (!answer) {
    const Errc code = answer.error().code;
    const bool ours =
        code == Errc::kTimeout || code == Errc::kTooLarge || code == Errc::kOverloaded;
    if (call.options.opentsdb_words && !ours) co_return mistake_response(call, answer.error());
    co_return query_run_error(call, answer.error());
  }
  if (!ascii) {
    const auto took = std::chrono::steady_clock::now() - begin;
    const auto took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    Response response = json_response(200, summary_json(**answer, took_ms));
    response.headers.add("Cache-Control", cache_control);
    co_return response;
  }
  Response response = text_response(200, {});
  response.headers.add("Cache-Control", cache_control);
  response.source = std::make_unique<AsciiSource>(std::move(*answer));
  co_return response;
}

}  // namespace halite::web
