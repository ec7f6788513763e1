#include "web/endpoint.h"

#include <string>

#include "web/json/error_map.h"

namespace halite::web {

namespace {

std::uint8_t method_bit(std::string_view method) {
  if (method == "GET") return kGet;
  if (method == "POST") return kPost;
  if (method == "PUT") return kPut;
  if (method == "DELETE") return kDelete;
  if (method == "HEAD") return kHead;
  if (method == "PATCH") return kPatch;
  return 0;
}

std::uint8_t mode_bit(Mode mode) {
  switch (mode) {
    case Mode::kReadWrite:
      return kInReadWrite;
    case Mode::kReadOnly:
      return kInReadOnly;
    case Mode::kWriteOnly:
      return kInWriteOnly;
  }
  return 0;
}

}  // namespace

const Endpoint* find_endpoint(std::string_view name, Mode mode) {
  for (const Endpoint& endpoint : all_endpoints()) {
    if (endpoint.name == name) {
      return (endpoint.modes & mode_bit(mode)) != 0 ? &endpoint : nullptr;
    }
  }
  return nullptr;
}

bool allows(const Endpoint& endpoint, std::string_view method) {
  return (endpoint.methods & method_bit(method)) != 0;
}

bool changes(const Endpoint& endpoint, std::string_view method) {
  return (endpoint.needs.asks & method_bit(method)) == 0;
}

Role role_for(const Endpoint& endpoint, std::string_view method) {
  return changes(endpoint, method) ? endpoint.needs.changing : endpoint.needs.asking;
}

Response error_response(const Call& call, int status, std::string_view message,
                        std::string_view details) {
  if (call.target.foreign()) {
    std::string text(message);
    if (!details.empty()) text.append(": ").append(details);
    return foreign_error(call.target.dialect, call.request, status, text);
  }
  if (call.target.api) {
    const std::string trace =
        call.options.error_trace ? "Halite has no Java stack: " + std::string(message) : "";
    return json_response(status, error_envelope(status, message, details, trace));
  }
  if (call.target.has("json")) return json_response(status, legacy_error_json(message));
  return text_response(status, error_page(reason_phrase(status), message), kHtmlType);
}

Response error_response(const Call& call, const Error& error) {
  return error_response(call, http_status(error.code), error.message, error.details);
}

Response mistake_response(const Call& call, const Error& error) {
  if (call.options.opentsdb_words) return error_response(call, 500, error.message);
  if (error.code != Errc::kInternal) return error_response(call, error);
  return error_response(call, 400, error.details.empty() ? error.message : error.details);
}

}  // namespace halite::web
