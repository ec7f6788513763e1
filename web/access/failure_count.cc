#include "web/access/failure_count.h"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

namespace halite::web {
namespace {

// For IPv6 the 64-bit network, because one client usually has all of it.
std::string network_of(std::string_view address) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(std::string(address), error);
  if (error || !parsed.is_v6()) return std::string(address);
  const auto bytes = parsed.to_v6().to_bytes();
  return {bytes.begin(), bytes.begin() + 8};
}

}  // namespace

bool FailureCount::over(const Failed& failed, TimestampMs now) const {
  return now >= failed.since + limits_.window_ms || now < failed.since;
}

std::int64_t FailureCount::wait_ms(std::string_view address, TimestampMs now) const {
  const auto found = failed_.find(network_of(address));
  if (found == failed_.end() || over(found->second, now)) return 0;
  if (found->second.count < limits_.failures_max) return 0;
  return found->second.since + limits_.window_ms - now;
}

void FailureCount::add(std::string_view address, TimestampMs now) {
  if (failed_.size() >= limits_.addresses_max) make_room(now);
  Failed& failed = failed_[network_of(address)];
  if (failed.count == 0 || over(failed, now)) failed = {.since = now, .count = 0};
  ++failed.count;
}

// A client with that many addresses evades the count anyway; the oldest entries go.
void FailureCount::make_room(TimestampMs now) {
  boost::unordered::erase_if(failed_, [&](const auto& entry) { return over(entry.second, now); });
  if (failed_.size() < limits_.addresses_max) return;
  const auto oldest =
      std::ranges::min_element(failed_, {}, [](const auto& entry) { return entry.second.since; });
  if (oldest != failed_.end()) failed_.erase(oldest);
}

}  // namespace halite::web
