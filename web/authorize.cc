#include "web/authorize.h"

#include <string>

#include <fmt/format.h>

#include "common/log.h"

namespace halite::web {
namespace {

constexpr std::string_view kChallenge = R"(Basic realm="halite", charset="UTF-8")";
constexpr std::string_view kRetrySeconds = "60";

Response challenge(const Call& call, std::string_view message, std::string_view details) {
  Response response = error_response(call, 401, message, details);
  response.headers.add("WWW-Authenticate", std::string(kChallenge));
  return response;
}

}  // namespace

std::string_view address_of(std::string_view remote) {
  if (remote.starts_with('/')) remote.remove_prefix(1);
  return remote.substr(0, remote.rfind(':'));
}

std::optional<Response> refuse_without(const Call& call, Role role) {
  if (call.caller.roles.may(role)) return std::nullopt;
  const std::string wanted = fmt::format("This wants the role {}", role_name(role));
  if (call.caller.name.empty()) {
    return challenge(call, "Say who you are",
                     wanted + ": send Authorization, Bearer with a token or Basic");
  }
  return error_response(call, 403, "Not allowed",
                        fmt::format("{}, which {} has not", wanted, call.caller.name));
}

boost::asio::awaitable<std::optional<Response>> authorize(AccessControl& access, Call& call,
                                                          const Endpoint& endpoint) {
  const Role role = role_for(endpoint, call.request.method);
  const std::string_view said = call.request.headers.get("Authorization");
  call.caller = access.anonymous();
  // Where everybody may, what somebody says does not matter: agents may go on sending passwords
  // that a gateway wanted.
  if (said.empty() || call.caller.roles == Roles::all()) co_return refuse_without(call, role);
  Result<Login> login = parse_authorization(said);
  if (!login) co_return challenge(call, "Not known here", login.error().message);
  Result<Caller> caller =
      co_await access.caller(*std::move(login), std::string(address_of(call.request.remote)));
  if (caller) {
    call.caller = *std::move(caller);
    co_return refuse_without(call, role);
  }
  if (caller.error().code == Errc::kUnauthenticated) {
    co_return challenge(call, "Not known here", caller.error().message);
  }
  Response later = error_response(call, 429, caller.error().message);
  later.headers.add("Retry-After", std::string(kRetrySeconds));
  co_return later;
}

void audit(const Call& call, const Endpoint& endpoint, int status) {
  const Role role = role_for(endpoint, call.request.method);
  const bool refused = status == 403 && !call.caller.name.empty();
  if (role != Role::kAdmin && !refused) return;
  log::info("audit: {} from {}: {} {} -> {}",
            call.caller.name.empty() ? std::string_view("nobody") : call.caller.name,
            address_of(call.request.remote), call.request.method, call.target.path, status);
}

}  // namespace halite::web
