// Adds one to a gauge while it lives, also if an exception ends its scope.
#pragma once

#include <prometheus/gauge.h>

namespace halite {

class GaugeGuard {
 public:
  explicit GaugeGuard(prometheus::Gauge& gauge) : gauge_(gauge) { gauge_.Increment(); }
  ~GaugeGuard() { gauge_.Decrement(); }
  GaugeGuard(const GaugeGuard&) = delete;
  GaugeGuard& operator=(const GaugeGuard&) = delete;

 private:
  prometheus::Gauge& gauge_;  // outlives this object
};

}  // namespace halite
