// Helpers shared by the endpoints for annotations, metadata and trees.
#pragma once

#include <string_view>

#include "common/result.h"
#include "web/endpoint.h"

namespace halite::web {

// 204 and 304 have no body.
[[nodiscard]] Response status_only(int status);

// 400 "Missing parameter <code>uid</code>"
[[nodiscard]] Response missing_parameter(const Call& call, std::string_view name);

// 400 "Missing message content", if a body is required.
[[nodiscard]] Response missing_content(const Call& call);

// 400 with the error's text as message and as details: OpenTSDB's answer to an invalid argument.
[[nodiscard]] Response wrong_argument(const Call& call, const Error& error);

// The store's error while saving: `what` is "Annotation", "UIDMeta", "TSMeta".
[[nodiscard]] Response save_error(const Call& call, std::string_view what, const Error& error);

}  // namespace halite::web
