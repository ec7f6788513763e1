// HTTP or telnet? The first byte of a connection tells, as in OpenTSDB: methods are in upper case,
// telnet commands are not.
//
// Empty lines in front of a request line are HTTP as well (RFC 9112, 2.2). In front of anything
// else they are what they are to telnet: commands without a name.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "common/ascii.h"

namespace halite::web {

enum class Protocol : unsigned char { kHttp, kTelnet };

// What came first; not empty.
[[nodiscard]] constexpr Protocol sniff(std::string_view bytes) {
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
