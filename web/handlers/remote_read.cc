// POST /api/v1/read: points as they are stored, for Prometheus' remote_read.
//
// Body        a prometheus.ReadRequest, packed with snappy (a block)
// Answer      200 a prometheus.ReadResponse, packed with snappy: one result for each query. All
//             samples in its range, with staleness markers; integers become doubles
// Errors      400 the body is no request, a matcher is wrong, or the client accepts only streamed
//             chunks; 408, 413 a limit of queries; 413 an answer above query.bytes_max; 503
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <snappy.h>

#include "common/bytes/proto_reader.h"
#include "common/bytes/utf8.h"
#include "common/bytes/varint.h"
#include "common/data_point.h"
#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/engine/export_run.h"
#include "query/limits.h"
#include "query/selector/label_matcher.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/json/error_map.h"
#include "web/metrics.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::uint64_t kSamples = 0;  // ReadRequest.ResponseType

// Keys of protobuf fields: number << 3 | wire type.
constexpr char kResults = 1 << 3 | 2;      // ReadResponse
constexpr char kTimeseries = 1 << 3 | 2;   // QueryResult
constexpr char kLabels = 1 << 3 | 2;       // TimeSeries
constexpr char kSampleList = 2 << 3 | 2;   // TimeSeries
constexpr char kLabelName = 1 << 3 | 2;    // Label
constexpr char kLabelValue = 2 << 3 | 2;   // Label
constexpr char kSampleValue = 1 << 3 | 1;  // Sample, a double
constexpr char kSampleTime = 2 << 3 | 0;   // Sample

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

Result<std::vector<ReadQuery>> read_request(std::string_view body,
                                            const query::QueryLimits& limits) {
  std::vector<ReadQuery> queries;
  std::vector<std::uint64_t> accepted;
  ProtoFault fault;
  ProtoReader request(body, fault);
  while (request.next()) {
    if (request.field() == 2) {
      request.each_varint([&accepted](std::uint64_t type) { accepted.push_back(type); });
    }
    if (request.field() != 1) continue;
    if (queries.size() == limits.sub_queries_max) {
      return fail(
          Errc::kInvalidArgument,
          fmt::format("more than {} queries (query.sub_queries_max)", limits.sub_queries_max));
    }
    TRY(ReadQuery query, read_query(request.message(), limits.regexp_bytes_max));
    queries.push_back(std::move(query));
  }
  if (fault) return fail(Errc::kInvalidArgument, fault.text());
  if (!accepted.empty() && std::ranges::find(accepted, kSamples) == accepted.end()) {
    return fail(Errc::kInvalidArgument,
                "server does not support any of the requested response types: "
                "[STREAMED_XOR_CHUNKS]; supported: {SAMPLES}");
  }
  return queries;
}

void append_text_field(std::string& to, char key, std::string_view text) {
  to += key;
  append_varint(to, text.size());
  to += text;
}

// Blocks as the time series of a QueryResult. A series may have several blocks, in the order of
// time, until another metric begins.
class ReadResult {
 public:
  explicit ReadResult(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  Result<void> add(const storage::Series& series, const storage::Block& block) {
    if (metric_ != series.metric.text()) {
      end_metric();
      metric_ = series.metric.text();
    }
    std::string& text = series_[series.id];
    const std::size_t before = text.size();
    if (text.empty()) append_labels(text, series);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const ValueBits bits = block.values[i];
      append_point(text, block.times[i],
                   block.floats[i] ? bits : double_bits(static_cast<double>(as_integer(bits))));
    }
    bytes_ += text.size() - before;
    if (bytes_ <= bytes_max_) return {};
    return fail(
        Errc::kTooLarge,
        fmt::format("the answer has more than {} bytes (query.bytes_max); ask for less time",
                    bytes_max_));
  }

  [[nodiscard]] std::string take() {
    end_metric();
    return std::exchange(result_, {});
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void end_metric() {
    for (const auto& [id, text] : series_) append_text_field(result_, kTimeseries, text);
    series_.clear();
  }

  static void append_labels(std::string& to, const storage::Series& series) {
    std::vector<std::pair<std::string_view, std::string_view>> labels;
    labels.emplace_back(query::kMetricLabel, series.metric.text());
    for (const storage::SeriesTag& tag : series.tags) labels.emplace_back(tag.key, tag.value);
    std::ranges::sort(labels);
    for (const auto& [name, value] : labels) {
      std::string label;
      append_text_field(label, kLabelName, name);
      append_text_field(label, kLabelValue, value);
      append_text_field(to, kLabels, label);
    }
  }

  static void append_point(std::string& to, TimestampMs time, ValueBits value) {
    const auto time_bits = static_cast<std::uint64_t>(time);
    constexpr std::size_t kValueBytes = 1 + sizeof(value);
    to += kSampleList;
    append_varint(to, kValueBytes + 1 + varint_size(time_bits));
    to += kSampleValue;
    for (unsigned shift = 0; shift < 64; shift += 8) to += static_cast<char>(value >> shift);
    to += kSampleTime;
    append_varint(to, time_bits);
  }

  const std::size_t bytes_max_;
  std::string result_;
  std::string metric_;
  std::unordered_map<storage::SeriesId, std::string> series_;  // of metric_
  std::size_t bytes_ = 0;
};

// Text as one block of snappy, in pieces. A block is the length of the text and then parts, which
// stand for themselves.
class SnappySource final : public BodySource {
 public:
  explicit SnappySource(std::string text) : text_(std::move(text)) {}

  bool next(std::string& to) override {
    constexpr std::size_t kPackedTogether = 256 << 10;
    if (!std::exchange(begun_, true)) {
      append_varint(to, text_.size());
    } else if (at_ == text_.size()) {
      return false;
    }
    const std::string_view piece = std::string_view(text_).substr(at_, kPackedTogether);
    at_ += piece.size();
    if (piece.empty()) return true;
    std::string packed;
    snappy::Compress(piece.data(), piece.size(), &packed);
    to += std::string_view(packed).substr(varint_size(piece.size()));
    return true;
  }

 private:
  const std::string text_;
  std::size_t at_ = 0;
  bool begun_ = false;
};

Task<std::string> answer_query(Call* call, ReadQuery query, std::size_t bytes_max) {
  QueryLog::RunningQuery logged =
      call->metrics.queries.begin(selectors_question({query.text}, query.question.range),
                                  call->request, call->services.clock, call->stop);
  const auto run = call->services.engine.export_points(std::move(query.question), logged.stop());
  auto result = std::make_shared<ReadResult>(bytes_max);
  bool more = true;
  while (more) {
    auto reading = run->next([result](const storage::Series& series, const storage::Block& block) {
      return result->add(series, block);
    });
    const Result<bool> read = co_await std::move(reading);
    if (!read) {
      logged.finish(http_status(read.error().code), read.error().message, run->cost());
      co_return std::unexpected(read.error());
    }
    more = *read;
  }
  logged.finish(200, "", run->cost());
  co_return result->take();
}

}  // namespace

asio::awaitable<Response> handle_remote_read(Call& call) {
  const query::QueryLimits& limits = call.services.engine.limits();
  Result<std::vector<ReadQuery>> queries = read_request(call.request.body, limits);
  if (!queries) co_return error_response(call, queries.error());
  std::string text;
  for (ReadQuery& query : *queries) {
    const std::uint64_t bytes_left = limits.bytes_max - std::min(limits.bytes_max, text.size());
    auto answering = answer_query(&call, std::move(query), bytes_left);
    const Result<std::string> result = co_await std::move(answering);
    if (!result) co_return error_response(call, result.error());
    append_text_field(text, kResults, *result);
  }
  Response response;
  response.content_type = "application/x-protobuf";
  response.headers.add("Content-Encoding", "snappy");
  response.source = std::make_unique<SnappySource>(std::move(text));
  co_return response;
}

}  // namespace halite::web
