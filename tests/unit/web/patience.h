// What tests of connections wait for, and how long.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/support/client.h"
#include "tests/support/soon.h"

namespace halite::web {

using test::kPatienceMs;
using test::soon;

inline std::string post(std::string_view target, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", target, body.size(), body);
}

// Reads until the text is there.
inline std::string receive_until(test::Client& client, std::string_view text) {
  std::string all;
  while (all.find(text) == std::string::npos) {
    const std::optional<std::string> more = client.receive(kPatienceMs);
    if (!more || more->empty()) break;
    all += *more;
  }
  return all;
}

inline constexpr std::string_view kPoint =
    R"({"metric":"m","timestamp":1356998400,"value":1,"tags":{"host":"a"}})";

}  // namespace halite::web
