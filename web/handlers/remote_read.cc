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
#include "web/json/error_map.h"
#include "web/metrics.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

struct ReadQuery {
  query::ExportQuestion question;
  std::string text;  // its matchers, as a selector
};

Result<query::LabelMatcher> read_matcher(ProtoReader matcher, std::size_t regexp_bytes_max) {
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
  return query::LabelMatcher::make(std::move(name), kKinds[kind], std::move(value),
                                   regexp_bytes_max);
}

Result<ReadQuery> read_query(ProtoReader query, std::size_t regexp_bytes_max) {
  ReadQuery read;
  TimeRange& range = read.question.range;
  TimestampMs last = 0;
  query::Selector selector;
  while (query.next()) {
    if (query.field() == 1) range.begin = query.int64();
    if (query.field() == 2) last = query.int64();
    if (query.field() != 3) continue;
    TRY(query::LabelMatcher matcher, read_matcher(query.message(), regexp_bytes_max));
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
    TRY(ReadQuery query, read_query(request.message(), limits.regexp_bytes_max));
    read.queries.push_back(std::move(query));
  }
  if (fault) return fail(Errc::kInvalidArgument, fault.text());
  TRY(read.form, choose_form(accepted));
  return read;
}

// Adds what the query finds, and the room for it.
Task<void> answer_query(Call* call, ReadQuery query, std::shared_ptr<RemoteReadAnswer> answer,
                        RemoteReadAnswer::Rooms* rooms) {
  QueryLog::RunningQuery logged =
      call->metrics.queries.begin(selectors_question({query.text}, query.question.range),
                                  call->request, call->services.clock, call->stop);
  const std::shared_ptr<query::ExportRun> run =
      call->services.engine.export_points(std::move(query.question), logged.stop());
  const query::BlockUse use = [answer, run = run.get()](const storage::Series& series,
                                                        const storage::Block& block) {
    return run->keep_bytes(answer->add(series, block));
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

}  // namespace

asio::awaitable<Response> handle_remote_read(Call& call) {
  Result<ReadRequest> request = read_request(call.request.body, call.services.engine.limits());
  if (!request) co_return error_response(call, request.error());
  const std::shared_ptr<RemoteReadAnswer> answer = make_remote_read_answer(request->form);
  RemoteReadAnswer::Rooms rooms;
  for (ReadQuery& query : request->queries) {
    auto answering = answer_query(&call, std::move(query), answer, &rooms);
    const Result<void> answered = co_await std::move(answering);
    if (!answered) co_return error_response(call, answered.error());
  }
  co_return answer->respond(std::move(rooms));
}

}  // namespace halite::web
