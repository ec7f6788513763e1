#include "app/client/server_url.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite::app {

namespace {

constexpr std::string_view kPlain = "http://";
constexpr std::string_view kSecure = "https://";
constexpr std::string_view kWanted = "expected http://HOST[:PORT] or https://HOST[:PORT]";

std::string_view default_port(UrlPorts ports, bool secure) {
  if (ports == UrlPorts::kHalite) return "4242";
  return secure ? "443" : "80";
}

bool is_loopback(std::string_view host) {
  return equal_ignoring_case(host, "localhost") || host == "127.0.0.1" || host == "::1";
}

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view text, UrlPorts ports) {
  const auto bad = [text](std::string_view why) {
    return fail(Errc::kInvalidArgument, fmt::format("bad URL \"{}\": {}; {}", text, why, kWanted));
  };
  const bool spaces = std::ranges::any_of(
      text, [](char byte) { return static_cast<unsigned char>(byte) <= ' ' || byte == '\x7f'; });
  if (spaces) return bad("it has a space or a control character");
  ServerUrl url;
  url.secure = text.starts_with(kSecure);
  if (!url.secure && !text.starts_with(kPlain)) return bad("no http://");
  std::string_view rest = text.substr((url.secure ? kSecure : kPlain).size());
  const std::size_t host_end = std::min(rest.find_first_of("/?#"), rest.size());
  url.prefix = rest.substr(host_end);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  rest = rest.substr(0, host_end);
  if (rest.contains('@')) {
    return fail(Errc::kInvalidArgument,
                fmt::format("a URL must not contain a user name or password; {}", kWanted));
  }
  if (url.prefix.find_first_of("?#") != std::string::npos) return bad("it has more than a path");
  const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return bad("no ]");
  const std::size_t colon = rest.find(':', bracket);
  url.port =
      colon == std::string_view::npos ? default_port(ports, url.secure) : rest.substr(colon + 1);
  url.host = rest.substr(0, colon);
  if (bracket != 0) url.host = rest.substr(1, bracket - 1);
  if (url.host.empty()) return bad("no host");
  const bool number = !url.port.empty() && url.port.size() <= 5 &&
                      url.port.find_first_not_of("0123456789") == std::string::npos;
  if (!number || std::stoul(url.port) == 0 || std::stoul(url.port) > 65535) {
    return bad(fmt::format("\"{}\" is not a port, 1 to 65535", url.port));
  }
  return url;
}

bool is_same_server(const ServerUrl& one, const ServerUrl& other) {
  if (one.port != other.port || one.prefix != other.prefix) return false;
  return equal_ignoring_case(one.host, other.host) ||
         (is_loopback(one.host) && is_loopback(other.host));
}

std::string authority(const ServerUrl& url) {
  const bool ipv6 = url.host.contains(':');
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", url.host, ipv6 ? "]" : "", url.port);
}

std::string url_text(const ServerUrl& url) {
  return fmt::format("{}{}{}", url.secure ? kSecure : kPlain, authority(url), url.prefix);
}

}  // namespace halite::app
