// POST /api/v1/write: stores points of Prometheus' remote_write.
//
// Type        application/x-protobuf, the default, with the message as its parameter "proto":
//             prometheus.WriteRequest (1.0, the default) or io.prometheus.write.v2.Request (2.0)
// Coding      snappy (a block, the default) or zstd
// Answer      204: all samples are stored and durable. With 2.0 each answer that concerns the
//             points says how much is stored: X-Prometheus-Remote-Write-Samples-Written,
//             -Histograms-Written and -Exemplars-Written, of which the last two are 0
// Errors      415 another type or coding; 400 the body is no request, nothing is stored; 400 some
//             series are refused (the others are stored): the text names the first ones; 413 too
//             many points; 503 the store cannot accept points now: send the request again
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "ingest/bodies/body_writer.h"
#include "ingest/remote_write/remote_write_body.h"
#include "web/handlers/body_answer.h"
#include "web/handlers/handlers.h"

namespace halite::web {
namespace {

using ingest::RemoteWriteVersion;

// The version that a Content-Type names; nothing if it is of something else.
std::optional<RemoteWriteVersion> version_of(std::string_view type) {
  std::string_view media = trim(type.substr(0, type.find(';')));
  if (!media.empty() && !equal_ignoring_case(media, "application/x-protobuf")) return std::nullopt;
  RemoteWriteVersion version = RemoteWriteVersion::k1;
  while (type.contains(';')) {
    type.remove_prefix(type.find(';') + 1);
    const std::string_view parameter = type.substr(0, type.find(';'));
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos ||
        !equal_ignoring_case(trim(parameter.substr(0, equals)), "proto")) {
      continue;
    }
    std::string_view message = trim(parameter.substr(equals + 1));
    if (message.size() > 1 && message.starts_with('"') && message.ends_with('"')) {
      message = message.substr(1, message.size() - 2);
    }
    if (message == "io.prometheus.write.v2.Request") {
      version = RemoteWriteVersion::k2;
    } else if (message == "prometheus.WriteRequest") {
      version = RemoteWriteVersion::k1;
    } else {
      return std::nullopt;
    }
  }
  return version;
}

Response response_to(const Call& call, const Result<ingest::BodyOutcome>& put,
                     const ingest::RemoteWriteCounts& seen) {
  if (auto failure = failed_body(call, put)) return *std::move(failure);
  if (put->refused_parts == 0) return text_response(204, "");
  // In one line, because Prometheus logs only the first.
  std::string text = fmt::format("{} of {} samples stored", put->points, seen.samples);
  if (seen.histograms > 0) {
    text += fmt::format(", none of {} native histograms", seen.histograms);
  }
  return error_response(call, 400, text + ": " + refusals_text(*put, "series"));
}

}  // namespace

std::optional<Response> check_remote_write(const Call& call) {
  const std::string_view type = call.request.headers.get("Content-Type");
  if (version_of(type)) return std::nullopt;
  return error_response(
      call, 415,
      fmt::format("Content-Type must be application/x-protobuf, with proto=prometheus.WriteRequest "
                  "or proto=io.prometheus.write.v2.Request, not \"{}\"",
                  type));
}

boost::asio::awaitable<Response> handle_remote_write(Call& call) {
  const RemoteWriteVersion version =
      version_of(call.request.headers.get("Content-Type")).value_or(RemoteWriteVersion::k1);
  ingest::BodyWriter bodies(call.services.writer);
  const auto body = ingest::make_remote_write_body(version, call.request.body, bodies.limits());
  auto putting = bodies.put(*body, ingest::Protocol::kRemoteWrite);
  Result<ingest::BodyOutcome> put = co_await std::move(putting);
  Response response = response_to(call, put, body->counts());
  if (put) co_await keep_families(call, *put);
  if (version == RemoteWriteVersion::k2) {
    const std::uint64_t samples = put ? put->points : 0;
    response.headers.add("X-Prometheus-Remote-Write-Samples-Written", fmt::to_string(samples));
    response.headers.add("X-Prometheus-Remote-Write-Histograms-Written", "0");
    response.headers.add("X-Prometheus-Remote-Write-Exemplars-Written", "0");
  }
  co_return response;
}

}  // namespace halite::web
