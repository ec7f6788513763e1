// Distinguishes HTTP from telnet by the first byte of a connection, as OpenTSDB does: methods are
// in upper case, telnet commands are not.
//
// Empty lines before a request line belong to HTTP (RFC 9112, 2.2). Before anything else they are
// telnet commands without a name.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "common/bytes/ascii.h"

namespace halite::web {

enum class Protocol : unsigned char { kHttp, kTelnet };

// The first bytes; not empty.
[[nodiscard]] constexpr Protocol detect_protocol(std::string_view bytes) {
  if (is_upper(bytes.front())) return Protocol::kHttp;
  constexpr std::array<std::string_view, 7> kMethods = {"GET ",  "POST ",    "PUT ",  "DELETE ",
                                                        "HEAD ", "OPTIONS ", "PATCH "};
  const std::size_t line = bytes.find_first_not_of("\r\n");
  if (line == 0 || line == std::string_view::npos) return Protocol::kTelnet;
  const std::string_view rest = bytes.substr(line);
  const bool asks = std::ranges::any_of(
      kMethods, [rest](std::string_view method) { return rest.starts_with(method); });
  return asks ? Protocol::kHttp : Protocol::kTelnet;
}

}  // namespace halite::web
