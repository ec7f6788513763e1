// Maps errors to HTTP: one table of statuses, and OpenTSDB's error envelope.
//
//   {"error":{"code":400,"message":"...","details":"...","trace":"..."}}
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

// The HTTP status of an error. Handlers may choose another one where OpenTSDB does.
[[nodiscard]] int http_status(Errc code);

// Omits empty `details` and `trace`.
[[nodiscard]] std::string error_envelope(int status, std::string_view message,
                                         std::string_view details, std::string_view trace = {});

// An error of a page older than the API: {"err":"..."}
[[nodiscard]] std::string legacy_error_json(std::string_view message);
// An error as a small HTML page.
[[nodiscard]] std::string error_page(std::string_view title, std::string_view message);

[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace halite::web
