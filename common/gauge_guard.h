// One of those that a gauge counts, while this lives, however it ends: also by an exception.
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
  prometheus::Gauge& gauge_;  // outlives it
};

}  // namespace halite
