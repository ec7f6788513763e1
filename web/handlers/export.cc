// GET, POST /api/v1/export: points as they are stored, as JSON lines of VictoriaMetrics, which
// /api/v1/import reads back. docs/query/export.md
//
// Parameters  in the URI, or in the form of a POST:
//             match[]: a selector of series, {__name__=~"x.*",a="b"}; may be repeated
//             start, end: Unix seconds with a fraction, 13 digits of milliseconds, or RFC 3339;
//             both are included; default: everything until now
//             max_rows_per_line: points in a line, at most 10,000 (default)
//             reduce_mem_usage: changes nothing, because no answer is ever in memory
// Answer      200 {"metric":{"__name__":"m","k":"v"},"values":[1,2],"timestamps":[ms,ms]} lines,
//             streamed; nothing if no series matches
// Errors      400 a parameter is missing or wrong; 408 too slow; 413 above a limit. After the first
//             piece an error ends the connection without the end of the body
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "ingest/formats/times.h"
#include "query/engine/engine.h"
#include "query/engine/export_run.h"
#include "query/selector/selector.h"
#include "web/handlers/export_lines.h"
#include "web/handlers/handlers.h"
#include "web/handlers/text_source.h"
#include "web/json/error_map.h"
#include "web/metrics.h"

namespace halite::web {
namespace {

constexpr std::string_view kLinesType = "application/stream+json; charset=utf-8";

class ExportSource final : public TextSource {
 public:
  ExportSource(QueryLog::RunningQuery logged, std::unique_ptr<query::ExportRun> run,
               std::size_t points_in_line_max)
      : TextSource("an export"),
        logged_(std::move(logged)),
        run_(std::move(run)),
        lines_(std::make_shared<ExportLines>(points_in_line_max)) {}

  Task<void> read() override {
    while (more_ && is_sent()) {
      auto reading = run_->next([lines = lines_](const storage::Series& series,
                                                 const storage::Block& block) -> Result<void> {
        lines->add(series, block);
        return {};
      });
      const Result<bool> more = co_await std::move(reading);
      if (!more) {
        finish(http_status(more.error().code), more.error().message);
        co_return std::unexpected(more.error());
      }
      more_ = *more;
      set_text(lines_->take());
    }
    if (!more_ && is_sent()) finish(200, "");
    co_return Result<void>();
  }

 private:
  void finish(int status, std::string message) {
    logged_.finish(status, std::move(message), run_->cost());
  }

  QueryLog::RunningQuery logged_;
  const std::unique_ptr<query::ExportRun> run_;
  const std::shared_ptr<ExportLines> lines_;
  bool more_ = true;
};

Result<TimestampMs> time_of(const Target& target, std::string_view name, TimestampMs otherwise) {
  const std::string_view text = target.get(name);
  if (text.empty()) return otherwise;
  constexpr std::size_t kMillisDigits = 13;
  TimestampMs ms = 0;
  if (text.size() == kMillisDigits && is_digit(text.front()) && read_number(text, ms)) return ms;
  if (const auto time = ingest::read_rfc3339(text)) return *time;
  const auto seconds = ingest::read_seconds(text);
  if (seconds) return *seconds;
  return fail(
      Errc::kInvalidArgument,
      fmt::format("{} must be Unix seconds, 13 digits of milliseconds or a time of RFC 3339 "
                  "such as 2023-11-14T22:13:20Z: {}",
                  name, seconds.error()));
}

Result<std::size_t> points_in_line(const Target& target) {
  const std::string_view text = target.get("max_rows_per_line");
  if (text.empty()) return ingest::kVmJsonPointsMax;
  std::uint64_t points = 0;
  if (!read_number(text, points) || points == 0) {
    return fail(Errc::kInvalidArgument,
                fmt::format("max_rows_per_line must be a positive number, not \"{}\"", text));
  }
  return std::min<std::uint64_t>(points, ingest::kVmJsonPointsMax);
}

Result<void> refuse_unsupported(const Target& target) {
  for (const char* name : {"extra_label", "extra_filters", "extra_filters[]"}) {
    if (target.has(name)) {
      return fail(Errc::kInvalidArgument, fmt::format("{} is not supported", name));
    }
  }
  if (const std::string_view format = target.get("format"); !format.empty()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("format=\"{}\" is not supported; without format the answer is JSON "
                            "lines, and halite export writes other formats",
                            format));
  }
  return {};
}

struct Wanted {
  query::ExportQuestion question;
  query::Question logged;  // as the log of queries shows it
  std::size_t points_in_line_max = 0;
};

Result<Wanted> parse_wanted(const Call& call) {
  const Target& target = call.target;
  TRY_VOID(refuse_unsupported(target));
  const query::QueryLimits& limits = call.services.engine.limits();
  const query::SelectorLimits bounds{.bytes_max = limits.expression_bytes_max,
                                     .regexps = storage::Regexps(limits.regexp_bytes_max)};
  Wanted wanted;
  for (const auto& [name, text] : target.parameters) {
    if (name != "match[]") continue;
    if (wanted.question.selectors.size() == limits.sub_queries_max) {
      return fail(Errc::kTooLarge, fmt::format("more than {} match[] (query.sub_queries_max)",
                                               limits.sub_queries_max));
    }
    auto selector = query::parse_selector(text, bounds);
    if (!selector) {
      return fail(selector.error().code,
                  fmt::format("match[]=\"{}\": {}", text, selector.error().message));
    }
    wanted.question.selectors.push_back(*std::move(selector));
    query::SubQuestion shown;
    shown.aggregator = "none";
    shown.metric = text;
    wanted.logged.queries.push_back(std::move(shown));
  }
  if (wanted.question.selectors.empty()) {
    return fail(Errc::kInvalidArgument,
                "missing parameter match[]: a selector of series such as up{job=\"a\"}");
  }
  TimeRange& range = wanted.question.range;
  TRY(range.begin, time_of(target, "start", 0));
  TRY(const TimestampMs last, time_of(target, "end", call.services.clock.now_ms()));
  range.end = last + 1;
  wanted.logged.begin = range.begin;
  wanted.logged.end = range.end;
  TRY(wanted.points_in_line_max, points_in_line(target));
  return wanted;
}

// Adds the parameters of a form in the body.
Result<void> add_form(Call& call) {
  if (call.request.method != "POST" || call.request.body.empty()) return {};
  if (!has_media_type(call.request, "application/x-www-form-urlencoded")) {
    return fail(Errc::kInvalidArgument,
                "the body has to be a form: Content-Type: application/x-www-form-urlencoded");
  }
  TRY(const Parameters form, parse_parameters(call.request.body));
  call.target.parameters.insert(call.target.parameters.end(), form.begin(), form.end());
  return {};
}

Response export_error(const Call& call, const Error& error) {
  std::string message = error.message;
  if (error.code == Errc::kTooLarge || error.code == Errc::kTimeout) {
    message += "; halite export has no such limits";
  }
  return error_response(call, http_status(error.code), message);
}

}  // namespace

boost::asio::awaitable<Response> handle_export(Call& call) {
  if (const Result<void> added = add_form(call); !added) {
    co_return error_response(call, added.error());
  }
  Result<Wanted> wanted = parse_wanted(call);
  if (!wanted) co_return error_response(call, wanted.error());
  QueryLog::RunningQuery logged = call.metrics.queries.begin(
      wanted->logged, call.request, call.services.clock, call.stop, call.trace);
  auto run = call.services.engine.export_points(std::move(wanted->question), logged.context());
  auto source =
      std::make_unique<ExportSource>(std::move(logged), std::move(run), wanted->points_in_line_max);
  // What fails before the first point still gets an answer.
  auto reading = source->read();
  const Result<void> begun = co_await std::move(reading);
  if (!begun) co_return export_error(call, begun.error());
  Response response;
  response.content_type = kLinesType;
  response.async_source = std::move(source);
  co_return response;
}

}  // namespace halite::web
