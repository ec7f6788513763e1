// POST /v1/metrics, also /api/v1/otlp/v1/metrics and /opentelemetry/v1/metrics: stores data points
// of OTLP. docs/send-data/otlp.md
//
// Body        an ExportMetricsServiceRequest, as the Content-Type says: application/x-protobuf or
//             application/json
// Answer      200 with an ExportMetricsServiceResponse in the same encoding. Its partial_success
//             counts the data points that are refused, and names the first ones
// Errors      google.rpc.Status in the same encoding. 400 the body is no such request, and nothing
//             is stored; 413 too many points or bytes; 415 another Content-Type or
//             Content-Encoding; 503 send it again. Senders do not repeat after 500
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "common/bytes/varint.h"
#include "common/json_string.h"
#include "ingest/bodies/body_writer.h"
#include "ingest/otlp/otlp_body.h"
#include "web/handlers/body_answer.h"
#include "web/handlers/handlers.h"
#include "web/json/error_map.h"

namespace halite::web {
namespace {

constexpr std::string_view kProtobufType = "application/x-protobuf";

bool is_otlp_protobuf(const Request& request) {
  const std::string_view type = request.headers.get("Content-Type");
  return equal_ignoring_case(trim(type.substr(0, type.find(';'))), kProtobufType);
}

// The words of a comma-separated list, without blanks around them.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

// An ExportMetricsServiceResponse. Without refused points it is empty.
Response otlp_answer(bool json, const ingest::BodyOutcome& put) {
  const std::uint64_t refused = put.refused_parts;
  const std::string why = refused > 0 ? refusals_text(put, "data point") : std::string();
  if (json) {
    return json_response(
        200,
        refused == 0
            ? "{}"
            : fmt::format(R"({{"partialSuccess":{{"rejectedDataPoints":"{}","errorMessage":{}}}}})",
                          refused, json_string(why)));
  }
  std::string body;
  if (refused > 0) {
    const std::string message = repair_utf8(why);
    std::string partial = "\x08";  // rejected_data_points
    append_varint(partial, refused);
    partial += '\x12';  // error_message
    append_varint(partial, message.size());
    partial += message;
    body = '\x0A';  // partial_success
    append_varint(body, partial.size());
    body += partial;
  }
  return text_response(200, std::move(body), kProtobufType);
}

}  // namespace

std::optional<Response> check_otlp(const Call& call) {
  if (is_otlp_protobuf(call.request) || is_otlp_json(call.request)) return std::nullopt;
  return error_response(
      call, 415,
      fmt::format("The Content-Type \"{}\" is neither application/x-protobuf nor application/json",
                  call.request.headers.get("Content-Type")));
}

boost::asio::awaitable<Response> handle_otlp(Call& call) {
  const bool json = is_otlp_json(call.request);
  ingest::BodyWriter bodies(call.services.writer);
  const std::unique_ptr<ingest::PointBody> body = ingest::make_otlp_body(
      json ? ingest::OtlpEncoding::kJson : ingest::OtlpEncoding::kProtobuf, call.request.body,
      {.limits = bodies.limits(),
       .resource_attributes = words_of(call.options.otlp_resource_attributes)});
  auto putting = bodies.put(*body, ingest::Protocol::kOtlp);
  Result<ingest::BodyOutcome> put = co_await std::move(putting);
  if (auto failure = co_await whole_failure(call, put)) co_return *std::move(failure);
  co_return otlp_answer(json, *put);
}

}  // namespace halite::web
