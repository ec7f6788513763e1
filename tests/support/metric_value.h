// What a registry of metrics says.
#pragma once

#include <algorithm>
#include <string>

#include <prometheus/labels.h>
#include <prometheus/registry.h>

namespace halite::test {

// The value of a counter or gauge, over all its labels or of those that have these among theirs;
// -1: there is none.
inline double metric_value(const prometheus::Registry& registry, const std::string& name,
                           const prometheus::Labels& wanted = {}) {
  double total = 0;
  bool found = false;
  for (const prometheus::MetricFamily& family : registry.Collect()) {
    if (family.name != name) continue;
    const bool is_gauge = family.type == prometheus::MetricType::Gauge;
    for (const prometheus::ClientMetric& one : family.metric) {
      const bool fits = std::ranges::all_of(wanted, [&one](const auto& label) {
        return std::ranges::any_of(one.label, [&label](const auto& had) {
          return had.name == label.first && had.value == label.second;
        });
      });
      if (!fits) continue;
      total += is_gauge ? one.gauge.value : one.counter.value;
      found = true;
    }
  }
  return found ? total : -1;
}

}  // namespace halite::test
