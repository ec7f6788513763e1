// Requests from pages of other origins (CORS), as tsd.http.request.cors_domains asks for it.
//
// Without the setting an Origin header changes nothing and OPTIONS is 405. With it, an origin that
// is not listed gets status 200 and an error body: OpenTSDB's way.
#pragma once

#include <optional>

#include "web/endpoint.h"

namespace halite::web {

// The answer to OPTIONS or to an origin that may not ask; nothing when the request may go on.
[[nodiscard]] std::optional<Response> check_origin(const Call& call);

// Whether the page that sends this is of another origin than the server and not listed.
[[nodiscard]] bool is_cross_origin(const Call& call);

// Access-Control-Allow-*, when the origin is one that may ask.
void add_cors_headers(const Call& call, Response& response);

}  // namespace halite::web
