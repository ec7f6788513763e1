#include "web/authorize.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/log.h"
#include "web/http/cors.h"
#include "web/request_trace.h"

namespace halite::web {
namespace {

constexpr std::string_view kChallenge = R"(Basic realm="halite", charset="UTF-8")";

Response challenge(const Call& call, std::string_view message, std::string_view details) {
  Response response = error_response(call, 401, message, details);
  response.headers.add("WWW-Authenticate", std::string(kChallenge));
  return response;
}

// Need more than the role read, but change no stored data.
constexpr std::array<std::string_view, 3> kHarmless = {"api/server", "api/dropcaches", "logs"};

bool changes_what_is_stored(const Call& call, Role role) {
  return role > Role::kRead &&
         std::ranges::find(kHarmless, call.target.endpoint) == kHarmless.end();
}

std::optional<Response> refuse_without(const Call& call, Role role) {
  if (call.options.read_only && changes_what_is_stored(call, role)) {
    return error_response(call, 403, "This server is read-only",
                          "It was started with --read-only, so stored data cannot change");
  }
  if (call.caller.roles.may(role)) return std::nullopt;
  if (call.caller.name.empty()) {
    return challenge(call, "Authentication required",
                     fmt::format("Required role: {}. Send an Authorization header: Bearer with a "
                                 "token, or Basic",
                                 role_name(role)));
  }
  return error_response(
      call, 403, "Not allowed",
      fmt::format("User {} lacks the required role: {}", call.caller.name, role_name(role)));
}

// Nothing if the call has none. Clients of InfluxDB 1 may send them in the parameters u and p.
std::optional<Result<Login>> credentials_of(const Call& call) {
  const std::string_view header = call.request.headers.get("Authorization");
  if (!header.empty()) return parse_authorization(header);
  if (call.target.dialect != Dialect::kInflux1) return std::nullopt;
  const std::string_view user = call.target.get("u");
  const std::string_view password = call.target.get("p");
  if (user.empty() && password.empty()) return std::nullopt;
  return password_login(user, password);
}

}  // namespace

std::optional<Response> refuse_cross_origin(const Call& call) {
  if (!is_cross_origin(call)) return std::nullopt;
  return error_response(call, 403, "A page of another origin cannot change data",
                        fmt::format("Its origin is {}; web.cors_domains can allow it",
                                    call.request.headers.get("Origin")));
}

std::optional<Response> refuse_change(Call& call, Role role) {
  if (role == Role::kAdmin) call.wanted = role;
  if (std::optional<Response> refusal = refuse_cross_origin(call)) return refusal;
  return refuse_without(call, role);
}

std::string_view address_of(std::string_view remote) {
  if (remote.starts_with('/')) remote.remove_prefix(1);
  return remote.substr(0, remote.rfind(':'));
}

boost::asio::awaitable<std::optional<Response>> authorize(AccessControl& access, Call& call,
                                                          const Endpoint& endpoint) {
  const Role role = role_for(endpoint, call.request.method);
  call.wanted = role;
  const std::optional<Result<Login>> said = credentials_of(call);
  call.caller = access.anonymous();
  // If anonymous callers may do everything, credentials do not matter: agents may continue to send
  // passwords that a gateway required.
  if (!said || call.caller.roles.may(Role::kAdmin)) co_return refuse_without(call, role);
  // Nor do they for public endpoints: a monitor with an old token must not see a dead server, or
  // block its address for all others.
  if (role == Role::kNone) co_return refuse_without(call, role);
  const Result<Login>& login = *said;
  if (!login) co_return challenge(call, "Authentication failed", login.error().message);
  Result<Caller> caller =
      co_await access.caller(*login, std::string(address_of(call.request.remote)));
  if (caller) {
    call.caller = *std::move(caller);
    co_return refuse_without(call, role);
  }
  if (caller.error().code == Errc::kUnauthenticated) {
    co_return challenge(call, "Authentication failed", caller.error().message);
  }
  Response later = error_response(call, 429, caller.error().message);
  later.headers.add("Retry-After", caller.error().details);
  co_return later;
}

void audit(const Call& call, int status) {
  const bool authenticated = !call.caller.name.empty();
  const bool refused = status == 403 && authenticated;
  if (call.wanted != Role::kAdmin && !refused) return;
  if (status == 401 && !authenticated) return;  // anonymous requests could fill the log
  // The path as sent, without the query: it contains no line break.
  const std::string_view target = call.request.target;
  const std::string trace = trace_id_of(call.request);
  log::info("audit: {} from {}: {} {} -> {}{}{}", authenticated ? call.caller.name : "anonymous",
            address_of(call.request.remote), call.request.method,
            target.substr(0, target.find('?')), status, trace.empty() ? "" : ", trace ", trace);
}

}  // namespace halite::web
