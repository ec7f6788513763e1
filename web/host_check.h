// Which names a request may call this server by (DNS rebinding: a page elsewhere lets its own name
// stand for 127.0.0.1, and the browser takes our answers for that page's).
#pragma once

#include <optional>

#include "web/endpoint.h"

namespace halite::web {

// The refusal of a browser's request whose Host is none of ours (web.hosts).
[[nodiscard]] std::optional<Response> check_host(const Call& call);

}  // namespace halite::web
