// What tests of connections wait for, and how long.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "tests/support/client.h"

namespace halite::web {

inline constexpr int kPatienceMs = 10'000;

template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

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
