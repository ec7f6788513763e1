#include "app/tools/views_tool.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "app/client/server_answer.h"
#include "common/json/json_value.h"
#include "common/threads/run_here.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

Result<HttpReply> ask(const ViewsFlags& flags, HttpRequest request) {
  TRY(const Peer server, make_peer(flags.url, flags.files));
  const std::string target = request.target;
  TRY(HttpReply reply, run_here(send_http(server, std::move(request), HttpLimits())));
  if (reply.status / 100 == 2) return reply;
  return fail(Errc::kUnavailable, answer_text(server, target, reply));
}

// 0 if it is absent or null.
std::int64_t int_member(const boost::json::object& view, std::string_view name) {
  const boost::json::value* const value = view.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::string text(const boost::json::object& view, std::string_view name) {
  const boost::json::value* const value = view.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string duration(std::int64_t ms) {
  if (ms >= 2 * kDayMs) return fmt::format("{}d", ms / kDayMs);
  if (ms >= 2 * kHourMs) return fmt::format("{}h", ms / kHourMs);
  if (ms >= 2 * kMinuteMs) return fmt::format("{}m", ms / kMinuteMs);
  return fmt::format("{}s", ms / 1000);
}

std::string lag_of(const boost::json::object& view) {
  const boost::json::value* const lag = view.if_contains("lagMs");
  return lag == nullptr || lag->is_null() ? "-" : duration(int_member(view, "lagMs"));
}

std::string state_of(const boost::json::object& view) {
  if (const std::string error = text(view, "error"); !error.empty()) return "failed: " + error;
  const boost::json::value* const waiting = view.if_contains("unitsWaiting");
  if (waiting != nullptr && waiting->is_null()) return "computed by " + text(view, "computedBy");
  if (int_member(view, "existing") == 0) return "no metric yet";
  if (int_member(view, "unitsWaiting") == 0) return "complete";
  const std::int64_t left = int_member(view, "timeLeftMs");
  return left > 0 ? fmt::format("{} left", duration(left)) : "waiting";
}

}  // namespace

Result<std::string> list_views(const ViewsFlags& flags) {
  TRY(const HttpReply reply, ask(flags, {.target = "/api/views", .body = {}}));
  boost::system::error_code error;
  const boost::json::value views = parse_json_value(reply.body, error);
  if (error || !views.is_array()) {
    return fail(Errc::kUnavailable, fmt::format("{} is not Halite: it answered {}", flags.url,
                                                reply.body.substr(0, 100)));
  }
  std::string table =
      fmt::format("{:<24} {:<24} {:>8} {:>8} {:>8} {:>8} {:>10}  {}\n", "VIEW", "METRICS", "BUCKET",
                  "COMPUTED", "WAITING", "LAG", "MiB", "STATE");
  for (const boost::json::value& value : views.get_array()) {
    if (!value.is_object()) continue;
    const boost::json::object& view = value.get_object();
    fmt::format_to(std::back_inserter(table),
                   "{:<24} {:<24} {:>8} {:>8} {:>8} {:>8} {:>10.1f}  {}\n", text(view, "name"),
                   text(view, "metrics"), duration(int_member(view, "intervalMs")),
                   int_member(view, "unitsBuilt"), int_member(view, "unitsWaiting"), lag_of(view),
                   static_cast<double>(int_member(view, "bytes")) / kMiB, state_of(view));
  }
  return table;
}

Result<std::string> rebuild_view(const ViewsFlags& flags) {
  const auto in_name = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.';
  };
  if (!std::ranges::all_of(flags.view, in_name)) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("\"{}\" is no name of a view: letters, digits, '-', '_' and '.'", flags.view));
  }
  const std::string target = fmt::format("/api/views/{}/rebuild", flags.view);
  TRY_VOID(ask(flags, {.target = target, .body = "{}"}));  // with a body it is a POST
  return fmt::format("{} is computed anew; halite views list shows the progress\n", flags.view);
}

}  // namespace halite::app
