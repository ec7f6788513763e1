// The host names that requests may use. Protects against DNS rebinding: a foreign page points its
// own name at 127.0.0.1, and the browser treats our answers as that page's.
#pragma once

#include <optional>

#include "web/endpoint.h"

namespace halite::web {

// Refuses a browser's request whose Host is not in web.hosts.
[[nodiscard]] std::optional<Response> check_host(const Call& call);

}  // namespace halite::web
