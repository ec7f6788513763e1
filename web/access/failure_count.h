// Failed logins by address. They limit attempts to guess passwords.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/clock.h"

namespace halite::web {

// Not thread-safe. An address may fail `failures_max` times within `window_ms` of its first
// failure.
class FailureCount {
 public:
  struct Limits {
    std::uint32_t failures_max;
    std::int64_t window_ms;
    std::size_t addresses_max;
  };
  explicit FailureCount(Limits limits) : limits_(limits) {}

  // How long the address must wait for its next attempt, in ms; 0 = not at all.
  [[nodiscard]] std::int64_t wait_ms(std::string_view address, TimestampMs now) const;
  void add(std::string_view address, TimestampMs now);

 private:
  struct Failed {
    TimestampMs since = 0;
    std::uint32_t count = 0;
  };
  [[nodiscard]] bool over(const Failed& failed, TimestampMs now) const;
  void make_room(TimestampMs now);

  const Limits limits_;
  boost::unordered_flat_map<std::string, Failed> failed_;
};

}  // namespace halite::web
