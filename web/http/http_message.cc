#include "web/http/http_message.h"

#include <algorithm>
#include <array>

#include "common/bytes/ascii.h"

namespace halite::web {

namespace {

struct Reason {
  int status;
  std::string_view phrase;
};

constexpr std::array kReasons = {
    Reason{100, "Continue"},
    Reason{200, "OK"},
    Reason{202, "Accepted"},
    Reason{204, "No Content"},
    Reason{302, "Found"},
    Reason{304, "Not Modified"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{413, "Request Entity Too Large"},
    Reason{415, "Unsupported Media Type"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Entity"},
    Reason{424, "Failed Dependency"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{499, "Client Closed Request"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{503, "Service Unavailable"},
    Reason{505, "HTTP Version Not Supported"},
};

}  // namespace

std::string_view Headers::get(std::string_view name) const {
  for (const Header& header : list_) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

bool Headers::has(std::string_view name) const {
  return std::ranges::any_of(
      list_, [&](const Header& header) { return equal_ignoring_case(header.name, name); });
}

bool has_media_type(const Request& request, std::string_view type) {
  const std::string_view sent = request.headers.get("Content-Type");
  return equal_ignoring_case(trim(sent.substr(0, sent.find(';'))), type);
}

Response text_response(int status, std::string body, std::string_view content_type) {
  Response response;
  response.status = status;
  response.content_type = content_type;
  response.body = std::move(body);
  return response;
}

Response json_response(int status, std::string body) {
  return text_response(status, std::move(body), kJsonType);
}

std::string_view reason_phrase(int status) {
  for (const Reason& reason : kReasons) {
    if (reason.status == status) return reason.phrase;
  }
  return "Unknown";
}

}  // namespace halite::web
