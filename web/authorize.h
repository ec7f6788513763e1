// Whether the one who calls may do what is asked for.
#pragma once

#include <optional>

#include <boost/asio/awaitable.hpp>

#include "web/endpoint.h"

namespace halite::web {

// Finds out who calls, into call.caller. The answer is a refusal, if there is one: 401 where the
// caller is nobody, 403 where somebody may not, 429 after too many failures.
boost::asio::awaitable<std::optional<Response>> authorize(AccessControl& access, Call& call,
                                                          const Endpoint& endpoint);

// For handlers that find out by themselves what a call does.
[[nodiscard]] std::optional<Response> refuse_without(const Call& call, Role role);

// What of Request::remote names the machine: "/127.0.0.1:50123" is "127.0.0.1".
[[nodiscard]] std::string_view address_of(std::string_view remote);

// A line in the log for what only few may do, and for what was refused to somebody.
void audit(const Call& call, const Endpoint& endpoint, int status);

}  // namespace halite::web
