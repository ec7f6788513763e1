#include "web/http/host_check.h"

#include <algorithm>
#include <array>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "web/name_list.h"

namespace halite::web {
namespace {

// "[::1]:4242" is "::1", "tsd:4242" is "tsd".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

// Not a name, which DNS rebinding could map to another address.
bool is_address(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

// Browsers send one of these with every request, and pages cannot prevent it. Agents and scripts
// send none, and may have any Host.
bool of_browser(const Headers& headers) {
  constexpr std::array<std::string_view, 4> kTheirs = {"Accept-Language", "Origin", "Referer",
                                                       "Sec-Fetch-Site"};
  return headers.get("User-Agent").starts_with("Mozilla/") ||
         std::ranges::any_of(kTheirs, [&headers](auto name) { return headers.has(name); });
}

bool of_this_machine(const WebOptions& options, std::string_view host) {
  return equal_ignoring_case(host, "localhost") || to_lower(host).ends_with(".localhost") ||
         equal_ignoring_case(host, options.host_name);
}

}  // namespace

std::optional<Response> check_host(const Call& call) {
  const WebOptions& options = call.options;
  const std::string_view host = without_port(call.request.headers.get("Host"));
  if (host.empty() || (options.hosts.empty() && !options.loopback)) return std::nullopt;
  if (!of_browser(call.request.headers)) return std::nullopt;
  if (is_address(host) || of_this_machine(options, host) || lists(options.hosts, host)) {
    return std::nullopt;
  }
  return error_response(call, 421, "Unknown host name",
                        fmt::format("Host is {}; web.hosts can allow it", host));
}

}  // namespace halite::web
