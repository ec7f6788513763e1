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
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "common/bytes/varint.h"
#include "common/json_string.h"
#include "ingest/bodies/body_writer.h"
#include "ingest/otlp/otlp_body.h"
#include "web/handlers/body_answer.h"
#include "web/handlers/handlers.h"

namespace halite::web {
namespace {

constexpr std::string_view kProtobufType = "application/x-protobuf";

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
  if (is_otlp_json(call.request) || has_media_type(call.request, kProtobufType))
    return std::nullopt;
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
      {.limits = bodies.limits(), .resource_attributes = call.options.otlp_resource_attributes});
  auto putting = bodies.put(*body, ingest::Protocol::kOtlp);
  Result<ingest::BodyOutcome> put = co_await std::move(putting);
  if (auto failure = failed_body(call, put)) co_return *std::move(failure);
  co_await keep_families(call, *put);
  co_return otlp_answer(json, *put);
}

}  // namespace halite::web
