// What one request did, for the status page and, if it is sampled, as a trace.
//
//   std::shared_ptr<RequestTrace> trace = RequestTrace::begin(call, endpoint, begin_us);
//   ... handlers add steps to trace->spans(), the question and the cost ...
//   trace->finish(call, {.status = 200, ..});       hands a sampled one to WebServices::traces
//
//   Sampled  if tracing is on, and traceparent says so; without a valid traceparent queries are
//            by tracing.sample_ratio. Other requests have no trace, nor has a caller without a name
//            and without a role.
//   Threads  one at a time; the spans any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/tracing/span_log.h"
#include "common/tracing/trace.h"
#include "common/tracing/trace_context.h"
#include "query/answer.h"
#include "query/run_context.h"
#include "web/endpoint.h"

namespace halite::web {

class RequestTrace {
 public:
  // `begin_us`: when the request began. Null: neither a query nor sampled.
  [[nodiscard]] static std::shared_ptr<RequestTrace> begin(const Call& call,
                                                           const Endpoint& endpoint,
                                                           std::int64_t begin_us);

  // Call begin() instead.
  RequestTrace(const Clock& clock, std::int64_t begin_us, std::optional<TraceContext> context)
      : spans_(clock, begin_us), context_(context) {}

  [[nodiscard]] SpanLog& spans() { return spans_; }

  // In lower-case hex; empty if it is not sampled.
  [[nodiscard]] std::string trace_id() const;

  void set_query(std::string_view text) {
    if (sampled_) query_ = text.substr(0, query_bytes_max_ + 1);
  }
  void set_cost(const query::QueryCost& cost) { cost_ = cost; }

  // How the request ended.
  struct Outcome {
    int status = 200;
    bool tls = false;
    std::string_view endpoint;  // its name
    std::string_view error;     // why the answer was not sent whole; empty: it was
  };
  void finish(const Call& call, const Outcome& outcome) const;

 private:
  [[nodiscard]] Trace make_trace(const Call& call, const Outcome& outcome) const;
  [[nodiscard]] std::vector<SpanAttribute> attributes(const Call& call,
                                                      const Outcome& outcome) const;

  SpanLog spans_;
  const std::optional<TraceContext> context_;  // the client's
  bool sampled_ = false;
  TraceId id_ = {};  // if sampled
  std::uint8_t flags_ = 0;
  std::size_t query_bytes_max_ = 0;
  std::string query_;  // at most one byte longer
  std::optional<query::QueryCost> cost_;
};

// What a run of the call's query gets.
[[nodiscard]] query::RunContext run_context(const Call& call);
// The spans of a trace that lives as long as they do; null if it is null.
[[nodiscard]] std::shared_ptr<SpanLog> spans_of(const std::shared_ptr<RequestTrace>& trace);

// The trace id of the request's traceparent in hex, for the log; empty if there is none.
[[nodiscard]] std::string trace_id_of(const Request& request);

}  // namespace halite::web
