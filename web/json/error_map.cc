#include "web/json/error_map.h"

#include <fmt/format.h>

#include "common/json_string.h"

namespace halite::web {

int http_status(Errc code) {
  switch (code) {
    case Errc::kNotFound:
      return 404;
    case Errc::kInvalidArgument:
      return 400;
    case Errc::kTooLarge:
      return 413;
    case Errc::kConflict:
      return 409;
    case Errc::kTimeout:
      return 408;
    case Errc::kOverloaded:  // after a 503 agents keep their points and retry
    case Errc::kUnavailable:
    case Errc::kCancelled:
      return 503;
    case Errc::kUnauthenticated:
      return 401;
    case Errc::kForbidden:
      return 403;
    case Errc::kUnsupported:
      return 501;
    case Errc::kCorruption:
    case Errc::kInternal:
      return 500;
  }
  return 500;
}

std::string error_envelope(int status, std::string_view message, std::string_view details,
                           std::string_view trace) {
  std::string json = fmt::format("{{\"error\":{{\"code\":{},\"message\":", status);
  append_json_string(json, message);
  if (!details.empty()) {
    json += ",\"details\":";
    append_json_string(json, details);
  }
  if (!trace.empty()) {
    json += ",\"trace\":";
    append_json_string(json, trace);
  }
  json += "}}";
  return json;
}

std::string legacy_error_json(std::string_view message) {
  std::string json = "{\"err\":";
  append_json_string(json, message);
  json += '}';
  return json;
}

std::string escape_html(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string error_page(std::string_view title, std::string_view message) {
  const std::string safe_title = escape_html(title);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head>"
      "<body><h1>{0}</h1><p>{1}</p></body></html>\n",
      safe_title, escape_html(message));
}

}  // namespace halite::web
