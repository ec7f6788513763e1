// From our errors to HTTP: one table of statuses, and OpenTSDB's error envelope.
//
//   {"error":{"code":400,"message":"...","details":"...","trace":"..."}}
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

// The HTTP status of an error. Handlers may choose another where OpenTSDB does.
[[nodiscard]] int http_status(Errc code);

// `details` and `trace` are left out when empty.
[[nodiscard]] std::string error_envelope(int status, std::string_view message,
                                         std::string_view details, std::string_view trace = {});

// An error of a page that is older than the API: {"err":"..."}
[[nodiscard]] std::string legacy_error_json(std::string_view message);
// The same for people: a small page of HTML.
[[nodiscard]] std::string error_page(std::string_view title, std::string_view message);

[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace halite::web
