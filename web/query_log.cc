#include "web/query_log.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "web/json/json_out.h"
#include "web/query_stats.h"
#include "web/request_trace.h"

namespace halite::web {
namespace {

std::string question_json(const query::Question& question) {
  std::string json = fmt::format("{{\"start\":\"{}\",\"end\":\"{}\",\"queries\":[", question.begin,
                                 question.end - 1);
  for (std::size_t i = 0; i < question.queries.size(); ++i) {
    if (i != 0) json += ',';
    append_query_echo(json, question.queries[i], i);
  }
  return json + "]}";
}

std::string promql_json(const query::PromqlQuestion& question) {
  return fmt::format(R"({{"start":"{}","end":"{}","queries":[],"promql":{},"step":{}}})",
                     question.steps.begin, question.steps.last(), json_string(question.expression),
                     question.range ? question.steps.step_ms : 0);
}

bool holds_secret(std::string_view header) {
  for (const char* name : {"Authorization", "Proxy-Authorization", "Cookie"}) {
    if (equal_ignoring_case(header, name)) return true;
  }
  return false;
}

std::string headers_json(const Headers& headers) {
  std::string json = "{";
  for (const Header& header : headers.list()) {
    if (json.size() > 1) json += ',';
    append_json_string(json, header.name);
    json += ':';
    append_json_string(json, holds_secret(header.name) ? "********" : header.value);
  }
  return json + '}';
}

// In the order of their begins, after that of the request.
void append_spans(std::string& to, RequestTrace& trace) {
  const std::int64_t begin_us = trace.spans().begin_us();
  const std::vector<SpanLog::Span> spans = trace.spans().spans();
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&spans](std::size_t i) {
    return std::tuple(spans[i].begin_us, -spans[i].end_us, i);
  });
  to += ",\"spans\":";
  append_json_list(to, order, [&](std::size_t i) {
    const SpanLog::Span& span = spans[i];
    fmt::format_to(std::back_inserter(to), R"({{"name":"{}","beginMs":{:.3f},"ms":{:.3f})",
                   span.name, static_cast<double>(span.begin_us - begin_us) / 1000,
                   static_cast<double>(span.end_us - span.begin_us) / 1000);
    if (span.shard) {
      fmt::format_to(std::back_inserter(to), R"(,"shard":{},"points":{})", *span.shard,
                     span.points);
    }
    to += '}';
  });
  fmt::format_to(std::back_inserter(to), R"(,"spansLeftOut":{})", trace.spans().left_out());
  const std::string id = trace.trace_id();
  if (!id.empty()) fmt::format_to(std::back_inserter(to), R"(,"traceId":"{}")", id);
}

}  // namespace

QueryLog::RunningQuery::RunningQuery(QueryLog& log, std::uint64_t id, const Clock& clock,
                                     std::stop_source source, std::stop_token outer,
                                     std::shared_ptr<RequestTrace> trace)
    : source_(std::move(source)), log_(&log), id_(id), clock_(clock), trace_(std::move(trace)) {
  if (!outer.stop_possible()) return;
  passed_on_ = std::make_unique<std::stop_callback<Ask>>(std::move(outer), Ask{source_});
}

QueryLog::RunningQuery::RunningQuery(RunningQuery&& other) noexcept
    : source_(std::move(other.source_)),
      passed_on_(std::move(other.passed_on_)),
      log_(std::exchange(other.log_, nullptr)),
      id_(other.id_),
      clock_(other.clock_),
      trace_(std::move(other.trace_)) {}

QueryLog::RunningQuery::~RunningQuery() { finish(500, "", {}); }

void QueryLog::RunningQuery::finish(int status, std::string exception,
                                    const query::QueryCost& cost) {
  if (log_ == nullptr) return;
  if (trace_ != nullptr) trace_->set_cost(cost);
  std::exchange(log_, nullptr)->finish(id_, clock_.now_ms(), status, std::move(exception), cost);
}

query::RunContext QueryLog::RunningQuery::context() const {
  return {source_.get_token(), spans_of(trace_)};
}

QueryLog::RunningQuery QueryLog::begin(const query::Question& question, const Request& request,
                                       const Clock& clock, std::stop_token stop,
                                       std::shared_ptr<RequestTrace> trace) {
  std::string text = question_json(question);
  if (trace != nullptr) trace->set_query(text);
  return begin_run(std::move(text), request, clock, std::move(stop), std::move(trace));
}

QueryLog::RunningQuery QueryLog::begin(const query::PromqlQuestion& question,
                                       const Request& request, const Clock& clock,
                                       std::stop_token stop, std::shared_ptr<RequestTrace> trace) {
  if (trace != nullptr) trace->set_query(question.expression);
  return begin_run(promql_json(question), request, clock, std::move(stop), std::move(trace));
}

QueryLog::RunningQuery QueryLog::begin_run(std::string query, const Request& request,
                                           const Clock& clock, std::stop_token stop,
                                           std::shared_ptr<RequestTrace> trace) {
  std::stop_source source;
  Run run{.id = 0,
          .stop = source,
          .cancelled = false,
          .query = std::move(query),
          .remote = request.remote,
          .headers = headers_json(request.headers),
          .begin = clock.now_ms(),
          .end = 0,
          .running = 0,
          .status = 0,
          .exception = {},
          .cost = {},
          .trace = trace};
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = next_id_++;
  run.id = id;
  run.running = running_.size() + 1;
  running_.emplace(id, std::move(run));
  return {*this, id, clock, std::move(source), std::move(stop), std::move(trace)};
}

bool QueryLog::cancel(std::uint64_t id) {
  std::stop_source stop(std::nostopstate);
  {
    const std::lock_guard lock(mutex_);
    const auto run = running_.find(id);
    if (run == running_.end()) return false;
    run->second.cancelled = true;
    stop = run->second.stop;
  }
  stop.request_stop();
  return true;
}

void QueryLog::finish(std::uint64_t id, TimestampMs now, int status, std::string exception,
                      const query::QueryCost& cost) {
  const std::lock_guard lock(mutex_);
  auto ended = running_.extract(id);
  Run& run = ended.mapped();
  run.end = now;
  run.status = status;
  run.exception = std::move(exception);
  run.cost = cost;
  completed_.push_front(std::move(run));
  if (completed_.size() > kCompletedMax) completed_.pop_back();
}

void QueryLog::append(std::string& to, const Run& run) {
  to += fmt::format(
      "{{\"query\":{},\"executed\":1,\"user\":null,\"requestHeaders\":{},\"exception\":", run.query,
      run.headers);
  if (run.exception.empty()) {
    to += "\"null\"";
  } else {
    append_json_string(to, run.exception);
  }
  to += fmt::format(
      ",\"httpResponse\":{{\"code\":{},\"reasonPhrase\":\"{}\"}},\"numRunningQueries\":{},"
      "\"queryStartTimestamp\":{},\"queryCompletedTimestamp\":{},\"sentToClient\":true,\"stats\":{{"
      "\"totalTime\":{:.1f},"
      "\"series\":{},\"points\":{},\"blocks\":{},\"emittedDPs\":{}}}}}",
      run.status, reason_phrase(run.status), run.running, run.begin, run.end,
      static_cast<double>(run.end - run.begin), run.cost.series, run.cost.points_read,
      run.cost.blocks_read, run.cost.points_out);
}

void QueryLog::append_status(std::string& to, const Run& run, TimestampMs until) {
  fmt::format_to(std::back_inserter(to), R"({{"id":{},"query":{},"remote":)", run.id, run.query);
  append_json_string(to, run.remote);
  fmt::format_to(std::back_inserter(to), R"(,"begin":{},"elapsedMs":{},"cancelled":{})", run.begin,
                 until - run.begin, run.cancelled);
}

std::string QueryLog::status_json(TimestampMs now) const {
  const std::lock_guard lock(mutex_);
  std::string json = "{\"running\":";
  append_json_list(json, std::views::reverse(running_), [&](const auto& run) {
    append_status(json, run.second, now);
    json += '}';
  });
  json += ",\"completed\":";
  append_json_list(json, completed_, [&](const Run& run) {
    append_status(json, run, run.end);
    json += fmt::format(",\"status\":{},\"error\":", run.status);
    append_json_string(json, run.exception);
    json += ",\"cost\":";
    append_query_cost(json, run.cost);
    if (run.trace != nullptr) append_spans(json, *run.trace);
    json += '}';
  });
  return json + '}';
}

std::string QueryLog::json(TimestampMs now) const {
  const std::lock_guard lock(mutex_);
  std::string json = "{\"completed\":";
  append_json_list(json, completed_, [&](const Run& run) { append(json, run); });
  json += ",\"running\":";
  append_json_list(json, std::views::reverse(running_), [&](const auto& entry) {
    const Run& run = entry.second;
    json += fmt::format("{{\"query\":{},\"remote\":", run.query);
    append_json_string(json, run.remote);
    json += fmt::format(",\"user\":null,\"headers\":{},\"queryStart\":{},\"elapsed\":{}}}",
                        run.headers, run.begin, now - run.begin);
  });
  return json + '}';
}

}  // namespace halite::web
