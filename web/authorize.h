// Authorization: whether a caller may make a call.
#pragma once

#include <optional>

#include <boost/asio/awaitable.hpp>

#include "web/endpoint.h"

namespace halite::web {

// Sets call.caller. Returns the refusal, if any: 401 for unknown callers, 403 for a missing role,
// 429 after too many failures.
boost::asio::awaitable<std::optional<Response>> authorize(AccessControl& access, Call& call,
                                                          const Endpoint& endpoint);

// For handlers that detect a change themselves. Refuses callers without the role, and pages of
// another origin.
[[nodiscard]] std::optional<Response> refuse_change(Call& call, Role role);

// Refuses changes requested by a page of another origin. Such a page can make any browser send a
// request with the password that the browser stores.
[[nodiscard]] std::optional<Response> refuse_cross_origin(const Call& call);

// The address in Request::remote: "/127.0.0.1:50123" is "127.0.0.1".
[[nodiscard]] std::string_view address_of(std::string_view remote);

// Logs calls that need a high role, and refused calls.
void audit(const Call& call, int status);

}  // namespace halite::web
