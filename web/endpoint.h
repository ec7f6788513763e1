// What an endpoint is: a name, the methods it takes, a handler. The table of all: endpoints.cc.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "common/result.h"
#include "web/access/access_control.h"
#include "web/http_message.h"
#include "web/options.h"
#include "web/server.h"
#include "web/target.h"

namespace halite::web {

class WebMetrics;

// One request under way. Lives until its handler returns.
struct Call {
  const WebOptions& options;
  const WebServices& services;
  WebMetrics& metrics;
  Request request;
  Target target;
  // The client went away, or the server stops and cannot wait: give up what only it wanted.
  std::stop_token stop;
  Caller caller = {};               // who asks; nobody with no role before authorize()
  Role change_role = Role::kAdmin;  // what a change wants here, also one that a GET asks for
  Role wanted = Role::kNone;        // the role that it turned out to want
};

// Handlers are awaited at once by the one who owns the Call, hence the reference.
using Handler = boost::asio::awaitable<Response> (*)(Call& call);

enum Method : std::uint8_t { kGet = 1, kPost = 2, kPut = 4, kDelete = 8, kHead = 16, kPatch = 32 };
enum ModeBit : std::uint8_t { kInReadWrite = 1, kInReadOnly = 2, kInWriteOnly = 4 };
inline constexpr std::uint8_t kWrites = kInReadWrite | kInWriteOnly;
inline constexpr std::uint8_t kReads = kInReadWrite | kInReadOnly;
inline constexpr std::uint8_t kAlways = kInReadWrite | kInReadOnly | kInWriteOnly;

// The role that a call wants: `asking` for the methods in `asks`, `changing` for all others.
struct RequiredRoles {
  std::uint8_t asks;  // Method bits
  Role asking;
  Role changing;
};
inline constexpr std::uint8_t kEveryMethod = 0xFF;
inline constexpr RequiredRoles kPublic = {kEveryMethod, Role::kNone, Role::kNone};
inline constexpr RequiredRoles kReader = {kEveryMethod, Role::kRead, Role::kRead};
inline constexpr RequiredRoles kWriter = {0, Role::kWrite, Role::kWrite};
inline constexpr RequiredRoles kAdministrator = {0, Role::kAdmin, Role::kAdmin};

struct Endpoint {
  std::string_view name;  // "api/put"; "" is the page
  std::uint8_t methods;   // Method bits; others are answered with 405
  std::uint8_t modes;     // ModeBit bits: in which tsd.mode it exists
  RequiredRoles needs;
  bool watch_client;  // trigger Call::stop when the client goes away
  Handler handler;
};

// OpenTSDB's words where histograms are off.
inline constexpr std::string_view kHistogramsAreOff =
    "Histogram storage has not been enabled. Check the 'tsd.core.histograms.config' configuration.";

// All endpoints, one line each.
[[nodiscard]] std::span<const Endpoint> all_endpoints();

// The endpoint of that name in that mode; nullptr if there is none.
[[nodiscard]] const Endpoint* find_endpoint(std::string_view name, Mode mode);

[[nodiscard]] bool allows(const Endpoint& endpoint, std::string_view method);
// Whether a call by that method changes something there.
[[nodiscard]] bool changes(const Endpoint& endpoint, std::string_view method);
[[nodiscard]] Role role_for(const Endpoint& endpoint, std::string_view method);

// Errors in the manner of the endpoint: the JSON envelope for the API; for pages a page of HTML or,
// with ?json, {"err":...}.
[[nodiscard]] Response error_response(const Call& call, int status, std::string_view message,
                                      std::string_view details = {});
[[nodiscard]] Response error_response(const Call& call, const Error& error);  // status by table
// The answer to a mistake of the asker's that OpenTSDB takes for a fault of its own: with
// --opentsdb-conf 500 and the message. Otherwise as any error; one of kInternal is 400, and its
// details, if there are any, are the message: they say what was wanted and found.
[[nodiscard]] Response mistake_response(const Call& call, const Error& error);

}  // namespace halite::web
