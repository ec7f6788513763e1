// Pieces that the endpoints for annotations, names' and series' metadata and trees share.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "web/endpoint.h"

namespace halite::web {

// 204 and 304 have no body.
[[nodiscard]] Response status_only(int status);

// 400 "Missing parameter <code>uid</code>"
[[nodiscard]] Response missing_parameter(const Call& call, std::string_view name);

// 400 "Missing message content", where a body is wanted.
[[nodiscard]] Response missing_content(const Call& call);

// 400 with the error's text as message and again as details: what OpenTSDB says to a wrong
// argument.
[[nodiscard]] Response wrong_argument(const Call& call, const Error& error);

// What the store said while something was saved: `what` is "Annotation", "UIDMeta", "TSMeta".
[[nodiscard]] Response save_error(const Call& call, std::string_view what, const Error& error);

}  // namespace halite::web
