// POST /api/v1/read: points as they are stored, for Prometheus' remote_read.
//
// Body        a prometheus.ReadRequest, packed with snappy (a block)
// Answer      200 all samples in the range of each query, with staleness markers; integers become
//             doubles. As streamed chunks or as samples (remote_read_answer.h): the first of
//             accepted_response_types that is one of these
// Errors      400 the body is no request, a matcher is wrong, or no accepted type is known; 408,
//             413 a limit of queries, 413 also a query whose answer exceeds query.bytes_max; 503
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/bytes/proto_reader.h"
#include "common/bytes/utf8.h"
#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/engine/export_run.h"
#include "query/limits.h"
#include "query/selector/label_matcher.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/handlers/remote_read_answer.h"
#include "web/handlers/text_source.h"
#include "web/json/error_map.h"
#include "web/metrics.h"
#include "web/request_trace.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

struct ReadQuery {
  query::ExportQuestion question;
  std::string text;  // its matchers, as a selector
};

Result<query::LabelMatcher> read_matcher(ProtoReader matcher, const storage::Regexps& regexps) {
  constexpr std::array kKinds = {query::MatchKind::kEqual, query::MatchKind::kNotEqual,
                                 query::MatchKind::kRegexp, query::MatchKind::kNotRegexp};
  std::uint64_t kind = 0;
  std::string name;
  std::string value;
  while (matcher.next()) {
    if (matcher.field() == 1) kind = matcher.varint();
    if (matcher.field() == 2) name = matcher.bytes();
    if (matcher.field() == 3) value = matcher.bytes();
  }
  if (kind >= kKinds.size()) {
    return fail(Errc::kInvalidArgument, fmt::format("invalid matcher type: {}", kind));
  }
  if (!is_utf8(name) || !is_utf8(value)) {
    return fail(Errc::kInvalidArgument, "the name or value of a matcher is not UTF-8");
  }
  return query::LabelMatcher::make(std::move(name), kKinds[kind], std::move(value), regexps);
}

Result<ReadQuery> read_query(ProtoReader query, const storage::Regexps& regexps) {
  ReadQuery read;
  TimeRange& range = read.question.range;
  TimestampMs last = 0;
  query::Selector selector;
  while (query.next()) {
    if (query.field() == 1) range.begin = query.int64();
    if (query.field() == 2) last = query.int64();
    if (query.field() != 3) continue;
    TRY(query::LabelMatcher matcher, read_matcher(query.message(), regexps));
    fmt::format_to(std::back_inserter(read.text), "{}{}{}{}", read.text.empty() ? "{" : ",",
                   matcher.name(), query::match_symbol(matcher.kind()),
                   json_string(matcher.value()));
    selector.matchers.push_back(std::move(matcher));
  }
  read.text += read.text.empty() ? "{}" : "}";
  range = closed_range(range.begin, last);
  read.question.selectors.push_back(std::move(selector));
  return read;
}

struct ReadRequest {
  std::vector<ReadQuery> queries;
  ReadForm form = ReadForm::kSamples;
};

// The first of the client's list that is known; samples if it has none.
Result<ReadForm> choose_form(const std::vector<std::uint64_t>& accepted) {
  if (accepted.empty()) return ReadForm::kSamples;
  for (const std::uint64_t type : accepted) {
    if (type <= static_cast<std::uint64_t>(ReadForm::kChunks)) return static_cast<ReadForm>(type);
  }
  return fail(Errc::kInvalidArgument,
              fmt::format("server does not support any of the requested response types: [{}]; "
                          "supported: {{SAMPLES, STREAMED_XOR_CHUNKS}}",
                          fmt::join(accepted, " ")));
}

Result<ReadRequest> read_request(std::string_view body, const query::QueryLimits& limits) {
  ReadRequest read;
  const storage::Regexps regexps(limits.regexp_bytes_max);
  std::vector<std::uint64_t> accepted;
  ProtoFault fault;
  ProtoReader request(body, fault);
  while (request.next()) {
    if (request.field() == 2) {
      request.each_varint([&accepted](std::uint64_t type) { accepted.push_back(type); });
    }
    if (request.field() != 1) continue;
    if (read.queries.size() == limits.sub_queries_max) {
      return fail(
          Errc::kInvalidArgument,
          fmt::format("more than {} queries (query.sub_queries_max)", limits.sub_queries_max));
    }
    TRY(ReadQuery query, read_query(request.message(), regexps));
    read.queries.push_back(std::move(query));
  }
  if (fault) return fail(Errc::kInvalidArgument, fault.text());
  TRY(read.form, choose_form(accepted));
  return read;
}

QueryLog::RunningQuery begin_log(Call& call, const ReadQuery& query) {
  return call.metrics.queries.begin(selectors_question({query.text}, query.question.range),
                                    call.request, call.services.clock, call.stop, call.trace);
}

// Adds what the query finds, and the room for it.
Task<void> answer_query(Call* call, ReadQuery query, std::shared_ptr<SamplesAnswer> answer,
                        SamplesAnswer::Rooms* rooms) {
  QueryLog::RunningQuery logged = begin_log(*call, query);
  const std::shared_ptr<query::ExportRun> run =
      call->services.engine.export_points(std::move(query.question), logged.context());
  const query::BlockUse use = [answer, run = run.get()](const storage::Series& series,
                                                        const storage::Block& block) {
    return run->keep_bytes(static_cast<std::int64_t>(answer->add(series, block)));
  };
  auto reading = run->read_all(use);
  Result<std::shared_ptr<const query::AnswerReservation>> room = co_await std::move(reading);
  if (!room) {
    logged.finish(http_status(room.error().code), room.error().message, run->cost());
    co_return std::unexpected(room.error());
  }
  rooms->push_back(*std::move(room));
  answer->end_query();
  logged.finish(200, "", run->cost());
  co_return Result<void>();
}

// The frames of one query, shared with the thread that reads.
struct QueryFrames {
  QueryLog::RunningQuery logged;
  std::unique_ptr<query::ExportRun> run;
  std::shared_ptr<ChunkFrames> frames;  // of all queries
  std::int64_t counted = 0;             // bytes in the budget of the query

  // What is kept now.
  Result<void> count(std::size_t bytes) {
    const auto now = static_cast<std::int64_t>(bytes);
    return run->keep_bytes(now - std::exchange(counted, now));
  }
};

// Frames as they are made, query after query.
class FrameSource final : public TextSource {
 public:
  // The call lives until the answer is sent.
  FrameSource(Call& call, std::vector<ReadQuery> queries, bool in_order)
      : TextSource("an answer to remote_read"),
        call_(call),
        queries_(std::move(queries)),
        frames_(std::make_shared<ChunkFrames>(in_order)) {}

  Task<void> read() override {
    while (is_sent() && begin_next()) {
      const std::shared_ptr<QueryFrames> query = query_;
      set_text({});
      auto reading =
          query->run->next([query](const storage::Series& series, const storage::Block& block) {
            query->frames->add(series, block);
            return query->count(query->frames->bytes());
          });
      const Result<bool> more = co_await std::move(reading);
      if (!more) {
        query->logged.finish(http_status(more.error().code), more.error().message,
                             query->run->cost());
        co_return std::unexpected(more.error());
      }
      if (!*more) query->frames->end_query();
      set_text(query->frames->take());
      CO_TRY_VOID(query->count(query->frames->bytes() + text_bytes()));
      if (*more) continue;
      query->logged.finish(200, "", query->run->cost());
      query_.reset();
    }
    co_return Result<void>();
  }

 private:
  // Each query begins in its turn, and with it the clock of its limits. False: none is left.
  bool begin_next() {
    if (query_ != nullptr) return true;
    if (begun_ == queries_.size()) return false;
    ReadQuery& query = queries_[begun_++];
    QueryLog::RunningQuery logged = begin_log(call_, query);
    auto run = call_.services.engine.export_points(std::move(query.question), logged.context());
    query_ = std::make_shared<QueryFrames>(std::move(logged), std::move(run), frames_);
    return true;
  }

  Call& call_;
  std::vector<ReadQuery> queries_;
  std::size_t begun_ = 0;  // of them
  const std::shared_ptr<ChunkFrames> frames_;
  std::shared_ptr<QueryFrames> query_;  // that is read; null: none
};

// Whether no name of a label is before __name__, so that series are in order if metrics are.
Task<bool> metrics_are_in_order(storage::PointStore* store) {
  auto listing = store->suggest(storage::NameKind::kTagKey, "", 1);
  CO_TRY(const std::vector<std::string> first, co_await std::move(listing));
  co_return first.empty() || first.front() > query::kMetricLabel;
}

asio::awaitable<Response> stream_frames(Call& call, std::vector<ReadQuery> queries) {
  auto asking = metrics_are_in_order(&call.services.store);
  const Result<bool> in_order = co_await std::move(asking);
  if (!in_order) co_return error_response(call, in_order.error());
  auto source = std::make_unique<FrameSource>(call, std::move(queries), *in_order);
  // What fails before the first frame still gets an answer.
  auto reading = source->read();
  const Result<void> begun = co_await std::move(reading);
  if (!begun) co_return error_response(call, begun.error());
  Response response;
  response.content_type = "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse";
  response.async_source = std::move(source);
  co_return response;
}

}  // namespace

asio::awaitable<Response> handle_remote_read(Call& call) {
  std::optional<SpanLog::Timed> timed(std::in_place, spans_of(call.trace).get(), "parse");
  Result<ReadRequest> request = read_request(call.request.body, call.services.engine.limits());
  timed.reset();
  if (!request) co_return error_response(call, request.error());
  if (request->form == ReadForm::kChunks) {
    auto streaming = stream_frames(call, std::move(request->queries));
    co_return co_await std::move(streaming);
  }
  const auto answer = std::make_shared<SamplesAnswer>();
  SamplesAnswer::Rooms rooms;
  for (ReadQuery& query : request->queries) {
    auto answering = answer_query(&call, std::move(query), answer, &rooms);
    const Result<void> answered = co_await std::move(answering);
    if (!answered) co_return error_response(call, answered.error());
  }
  co_return answer->respond(std::move(rooms));
}

}  // namespace halite::web
