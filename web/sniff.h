// HTTP or telnet? The first byte of a connection tells, as in OpenTSDB: methods are in upper case,
// telnet commands are not.
#pragma once

namespace halite::web {

enum class Protocol : unsigned char { kHttp, kTelnet };

[[nodiscard]] constexpr Protocol sniff(char first) {
  return first >= 'A' && first <= 'Z' ? Protocol::kHttp : Protocol::kTelnet;
}

}  // namespace halite::web
