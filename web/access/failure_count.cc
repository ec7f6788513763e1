#include "web/access/failure_count.h"

#include <algorithm>

namespace halite::web {

bool FailureCount::over(const Failed& failed, TimestampMs now) const {
  return now >= failed.since + limits_.window_ms || now < failed.since;
}

std::int64_t FailureCount::wait_ms(std::string_view address, TimestampMs now) const {
  const auto found = failed_.find(std::string(address));
  if (found == failed_.end() || over(found->second, now)) return 0;
  if (found->second.count < limits_.failures_max) return 0;
  return found->second.since + limits_.window_ms - now;
}

void FailureCount::add(std::string_view address, TimestampMs now) {
  if (failed_.size() >= limits_.addresses_max) make_room(now);
  Failed& failed = failed_[std::string(address)];
  if (failed.count == 0 || over(failed, now)) failed = {.since = now, .count = 0};
  ++failed.count;
}

// Who has that many addresses is not held up by counting; the oldest go.
void FailureCount::make_room(TimestampMs now) {
  boost::unordered::erase_if(failed_, [&](const auto& entry) { return over(entry.second, now); });
  if (failed_.size() < limits_.addresses_max) return;
  const auto oldest =
      std::ranges::min_element(failed_, {}, [](const auto& entry) { return entry.second.since; });
  if (oldest != failed_.end()) failed_.erase(oldest);
}

}  // namespace halite::web
