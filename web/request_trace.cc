#include "web/request_trace.h"

#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/bytes/utf8.h"
#include "common/log.h"
#include "web/access/secret.h"
#include "web/authorize.h"

namespace halite::web {
namespace {

constexpr std::size_t kPathBytesMax = 512;
constexpr std::size_t kAgentBytesMax = 256;
constexpr std::size_t kHostBytesMax = 256;

// Valid UTF-8 of at most that many bytes: one wrong byte would make a collector refuse the batch.
std::string attribute_text(std::string_view text, std::size_t bytes_max) {
  text = utf8_prefix(text, bytes_max);
  return is_utf8(text) ? std::string(text) : repair_utf8(text);
}

// One header of that name; empty if there are several, which W3C calls not valid.
std::string_view only_header(const Headers& headers, std::string_view name) {
  std::string_view only;
  for (const Header& header : headers.list()) {
    if (!equal_ignoring_case(header.name, name)) continue;
    if (!only.empty()) return {};
    only = header.value;
  }
  return only;
}

// All headers of that name as one list.
std::string joined_headers(const Headers& headers, std::string_view name) {
  std::string all;
  for (const Header& header : headers.list()) {
    if (!equal_ignoring_case(header.name, name)) continue;
    if (!all.empty()) all += ',';
    all += header.value;
  }
  return all;
}

// By the last 56 bits of the id, as OpenTelemetry's TraceIdRatioBased, so that servers agree.
bool is_in_ratio(const TraceId& id, double ratio) {
  constexpr std::size_t kFirst = 9;
  std::uint64_t number = 0;
  for (std::size_t i = kFirst; i < id.size(); ++i) number = number << 8 | id[i];
  return static_cast<double>(number) < std::ldexp(ratio, 56);
}

void add_address(std::vector<SpanAttribute>& to, std::string_view host) {
  if (host.empty()) return;
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return;
  const std::size_t colon = host.find(':', bracket);
  const std::string_view name = bracket == 0 ? host.substr(0, colon) : host.substr(1, bracket - 1);
  to.push_back({"server.address", attribute_text(name, kHostBytesMax)});
  std::uint16_t port = 0;
  if (colon != std::string_view::npos && read_number(host.substr(colon + 1), port)) {
    to.push_back({"server.port", std::int64_t{port}});
  }
}

// A template instead of the path: names in paths would make as many routes.
std::string route_of(const Call& call, std::string_view endpoint) {
  const bool known = call.target.foreign() && call.target.rest.empty();
  return known ? attribute_text(call.target.path, kPathBytesMax) : fmt::format("/{}", endpoint);
}

// `ids` holds one for each span. A shard is a child of the next step in the log.
void add_steps(Trace& trace, const std::vector<SpanLog::Span>& steps, std::string_view ids,
               std::int64_t shift_ns) {
  const SpanId root = trace.spans.front().id;
  std::size_t shards_begin = trace.spans.size();
  for (const SpanLog::Span& step : steps) {
    TraceSpan span;
    std::memcpy(span.id.data(), ids.data(), sizeof(SpanId));
    ids.remove_prefix(sizeof(SpanId));
    span.parent = root;
    span.name = step.name;
    span.begin_ns = step.begin_us * 1000 + shift_ns;
    span.end_ns = step.end_us * 1000 + shift_ns;
    if (step.shard) {
      span.attributes.push_back({"halite.shard", std::int64_t{*step.shard}});
      span.attributes.push_back({"halite.points_read", static_cast<std::int64_t>(step.points)});
      trace.spans.push_back(std::move(span));
      continue;
    }
    for (std::size_t i = shards_begin; i < trace.spans.size(); ++i) {
      TraceSpan& shard = trace.spans[i];
      if (shard.begin_ns >= span.begin_ns && shard.end_ns <= span.end_ns) shard.parent = span.id;
    }
    trace.spans.push_back(std::move(span));
    shards_begin = trace.spans.size();
  }
}

}  // namespace

std::shared_ptr<RequestTrace> RequestTrace::begin(const Call& call, const Endpoint& endpoint,
                                                  std::int64_t begin_us) {
  // Strangers may call what is open to all, but not fill the queue.
  const bool stranger = call.caller.name.empty() && call.caller.roles.empty();
  const bool tracing = call.services.traces != nullptr && !stranger;
  const bool asks = endpoint.watch_client;
  if (!tracing && !asks) return nullptr;
  std::optional<TraceContext> context;
  if (tracing) context = parse_traceparent(only_header(call.request.headers, "traceparent"));
  if (!asks && (!context || !context->sampled())) return nullptr;
  auto trace = std::make_shared<RequestTrace>(call.services.clock, begin_us, context);
  if (!tracing) return trace;
  trace->query_bytes_max_ = call.options.traces.query_bytes_max;
  if (context) {
    trace->sampled_ = context->sampled();
    trace->id_ = context->trace_id;
    trace->flags_ = context->flags;
  } else if (call.options.traces.ratio > 0) {
    const Result<std::string> random = random_bytes(sizeof(TraceId));
    if (!random) return trace;
    std::memcpy(trace->id_.data(), random->data(), sizeof(TraceId));
    trace->sampled_ = is_in_ratio(trace->id_, call.options.traces.ratio);
    trace->flags_ = TraceContext::kSampled | TraceContext::kRandom;
  }
  return trace;
}

std::string RequestTrace::trace_id() const { return sampled_ ? id_text(id_) : std::string(); }

std::vector<SpanAttribute> RequestTrace::attributes(const Call& call,
                                                    const Outcome& outcome) const {
  const Request& request = call.request;
  std::vector<SpanAttribute> list = {
      {"http.request.method", request.method},
      {"http.route", route_of(call, outcome.endpoint)},
      {"http.response.status_code", std::int64_t{outcome.status}},
      {"url.scheme", outcome.tls ? "https" : "http"},
      {"url.path", attribute_text(call.target.path, kPathBytesMax)},
      {"network.protocol.version", fmt::format("1.{}", request.minor_version)}};
  add_address(list, request.headers.get("Host"));
  if (!request.remote.empty()) {
    list.push_back({"client.address", std::string(address_of(request.remote))});
  }
  const std::string_view agent = request.headers.get("User-Agent");
  if (!agent.empty()) {
    list.push_back({"user_agent.original", attribute_text(agent, kAgentBytesMax)});
  }
  if (!outcome.error.empty()) {
    list.push_back({"error.type", std::string(outcome.error)});
  } else if (outcome.status >= 500) {
    list.push_back({"error.type", std::to_string(outcome.status)});
  }
  if (!query_.empty()) {
    list.push_back({"db.system.name", "halite"});
    list.push_back({"db.query.text", attribute_text(query_, query_bytes_max_)});
  }
  if (cost_) {
    const auto add = [&list](std::string_view key, std::uint64_t count) {
      list.push_back({key, static_cast<std::int64_t>(count)});
    };
    add("halite.series", cost_->series);
    add("halite.points_read", cost_->points_read);
    add("halite.points_out", cost_->points_out);
    add("halite.blocks_read", cost_->blocks_read);
    add("halite.chunks_decoded", cost_->work.chunks_decoded);
    add("halite.chunks_skipped", cost_->work.chunks_skipped);
  }
  const std::size_t left_out = spans_.left_out();
  if (left_out > 0) {
    list.push_back({"halite.spans_left_out", static_cast<std::int64_t>(left_out)});
  }
  return list;
}

Trace RequestTrace::make_trace(const Call& call, const Outcome& outcome) const {
  const Clock& clock = call.services.clock;
  const std::int64_t now_us = clock.elapsed_us();
  const std::int64_t shift_ns = (clock.now_us() - now_us) * 1000;
  Trace trace;
  const std::vector<SpanLog::Span> steps = spans_.spans();
  const Result<std::string> ids = random_bytes((steps.size() + 1) * sizeof(SpanId));
  if (!ids) {
    log::warn("a request is not traced: {}", ids.error().message);
    return trace;
  }
  trace.id = id_;
  trace.flags = flags_;
  trace.remote_parent = context_.has_value();
  if (context_) {
    trace.state = joined_headers(call.request.headers, "tracestate");
    if (!is_tracestate(trace.state)) trace.state.clear();
  }
  TraceSpan& root = trace.spans.emplace_back();
  std::memcpy(root.id.data(), ids->data(), sizeof(SpanId));
  if (context_) root.parent = context_->span_id;
  root.name = fmt::format("{} {}", call.request.method, route_of(call, outcome.endpoint));
  root.kind = SpanKind::kServer;
  root.begin_ns = spans_.begin_us() * 1000 + shift_ns;
  root.end_ns = now_us * 1000 + shift_ns;
  root.failed = outcome.status >= 500 || !outcome.error.empty();
  root.attributes = attributes(call, outcome);
  add_steps(trace, steps, std::string_view(*ids).substr(sizeof(SpanId)), shift_ns);
  return trace;
}

void RequestTrace::finish(const Call& call, const Outcome& outcome) const {
  if (!sampled_) return;
  Trace trace = make_trace(call, outcome);
  if (!trace.spans.empty()) call.services.traces->add(std::move(trace));
}

std::shared_ptr<SpanLog> spans_of(const std::shared_ptr<RequestTrace>& trace) {
  return trace == nullptr ? nullptr : std::shared_ptr<SpanLog>(trace, &trace->spans());
}

query::RunContext run_context(const Call& call) { return {call.stop, spans_of(call.trace)}; }

std::string trace_id_of(const Request& request) {
  const auto context = parse_traceparent(only_header(request.headers, "traceparent"));
  return context ? id_text(context->trace_id) : std::string();
}

}  // namespace halite::web
