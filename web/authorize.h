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

// For handlers that find out by themselves that a call changes something: the refusal of a caller
// without the role, or of a page of another origin.
[[nodiscard]] std::optional<Response> refuse_change(Call& call, Role role);

// The refusal of what a page of another origin asks to be changed: any browser may be made to send
// it, and with the password that it keeps.
[[nodiscard]] std::optional<Response> refuse_cross_origin(const Call& call);

// What of Request::remote names the machine: "/127.0.0.1:50123" is "127.0.0.1".
[[nodiscard]] std::string_view address_of(std::string_view remote);

// A line in the log for what only few may do, and for what was refused to somebody.
void audit(const Call& call, int status);

}  // namespace halite::web
