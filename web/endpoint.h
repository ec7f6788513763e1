// An endpoint: a name, its methods and a handler. endpoints.cc lists all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "common/result.h"
#include "web/access/access_control.h"
#include "web/http/http_message.h"
#include "web/http/target.h"
#include "web/options.h"
#include "web/server.h"

namespace halite::web {

class RequestTrace;  // web/request_trace.h
class WebMetrics;

// A request in progress. It lives until its answer is sent.
struct Call {
  const WebOptions& options;
  const WebServices& services;
  WebMetrics& metrics;
  Request request;
  Target target;
  // The client disconnected, or the server is stopping: end work that is only for this call.
  std::stop_token stop;
  Caller caller = {};                             // anonymous without roles before authorize()
  Role change_role = Role::kAdmin;                // the role for changes, including those by a GET
  Role wanted = Role::kNone;                      // the role that the call needs
  std::shared_ptr<RequestTrace> trace = nullptr;  // null: neither a query nor traced
};

// The owner of the Call awaits the handler at once, hence the reference.
using Handler = boost::asio::awaitable<Response> (*)(Call& call);

enum Method : std::uint8_t { kGet = 1, kPost = 2, kPut = 4, kDelete = 8, kHead = 16, kPatch = 32 };
enum ModeBit : std::uint8_t { kInReadWrite = 1, kInReadOnly = 2, kInWriteOnly = 4 };
inline constexpr std::uint8_t kWrites = kInReadWrite | kInWriteOnly;
inline constexpr std::uint8_t kReads = kInReadWrite | kInReadOnly;
inline constexpr std::uint8_t kAlways = kInReadWrite | kInReadOnly | kInWriteOnly;

// The roles for a call: `asking` for the methods in `asks`, `changing` for all others.
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

// How the body of a request is decoded before the handler gets it.
enum class BodyForm : std::uint8_t {
  kText,         // Content-Encoding, the charset of Content-Type, a byte order mark
  kBinary,       // only Content-Encoding
  kRemoteWrite,  // and remote_read: only Content-Encoding, which is snappy if it is missing
};

// The refusal of a request whose body need not be decoded, for example because of its type.
using BodyCheck = std::optional<Response> (*)(const Call& call);

struct Endpoint {
  std::string_view name;  // "api/put"; "" is the page
  std::uint8_t methods;   // Method bits; 405 for others
  std::uint8_t modes;     // ModeBit bits: the values of tsd.mode in which it exists
  RequiredRoles needs;
  bool watch_client;  // a query: triggers Call::stop when the client disconnects
  Handler handler;
  BodyForm body = BodyForm::kText;
  BodyCheck check = nullptr;
};

// OpenTSDB's message if histograms are off.
inline constexpr std::string_view kHistogramsAreOff =
    "Histogram storage has not been enabled. Check the 'tsd.core.histograms.config' configuration.";

// All endpoints, one line each.
[[nodiscard]] std::span<const Endpoint> all_endpoints();

// The endpoint with that name in that mode; nullptr if there is none.
[[nodiscard]] const Endpoint* find_endpoint(std::string_view name, Mode mode);

[[nodiscard]] bool allows(const Endpoint& endpoint, std::string_view method);
// True if a call with that method changes state.
[[nodiscard]] bool changes(const Endpoint& endpoint, std::string_view method);
[[nodiscard]] Role role_for(const Endpoint& endpoint, std::string_view method);

// Errors in the endpoint's format: the JSON envelope for the API; for pages HTML or, with ?json,
// {"err":...}; of other protocols as their clients expect it, where `details` follow the message.
[[nodiscard]] Response error_response(const Call& call, int status, std::string_view message,
                                      std::string_view details = {});
[[nodiscard]] Response error_response(const Call& call, const Error& error);  // with http_status()
// The answer to a client's error that OpenTSDB treats as its own. With --opentsdb-conf: 500 and the
// message. Otherwise like any error, but kInternal becomes 400, and its details, if any, become the
// message, because they name what was expected and found.
[[nodiscard]] Response mistake_response(const Call& call, const Error& error);

}  // namespace halite::web
