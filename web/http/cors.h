// Requests from pages of other origins (CORS), as in OpenTSDB's tsd.http.request.cors_domains.
//
// Without the setting, an Origin header has no effect and OPTIONS gets 405. With it, an origin that
// is not listed gets status 200 and an error body, as in OpenTSDB.
#pragma once

#include <optional>

#include "web/endpoint.h"

namespace halite::web {

// The answer to OPTIONS or to an origin that is not allowed; nullopt if the request may continue.
[[nodiscard]] std::optional<Response> check_origin(const Call& call);

// True if the page that sent this has another origin than the server and is not listed.
[[nodiscard]] bool is_cross_origin(const Call& call);

// Adds Access-Control-Allow-* if the origin is allowed.
void add_cors_headers(const Call& call, Response& response);

}  // namespace halite::web
