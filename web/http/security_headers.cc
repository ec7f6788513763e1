#include "web/http/security_headers.h"

namespace halite::web {
namespace {

constexpr std::string_view kOfAll = "X-Content-Type-Options: nosniff\r\n";

constexpr std::string_view kOfPages =
    "Content-Security-Policy: default-src 'self'; base-uri 'none'; object-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

// Content that a browser opens as a page and whose scripts it runs.
bool is_page(std::string_view content_type) {
  return content_type.starts_with("text/html") || content_type.starts_with("image/svg");
}

}  // namespace

void append_security_headers(std::string& head, std::string_view content_type) {
  if (content_type.empty()) return;
  head += kOfAll;
  if (is_page(content_type)) head += kOfPages;
}

}  // namespace halite::web
