// Adds an amount to a gauge while it lives, also if an exception ends its scope.
#pragma once

#include <prometheus/gauge.h>

namespace halite {

class GaugeGuard {
 public:
  explicit GaugeGuard(prometheus::Gauge& gauge, double amount = 1)
      : gauge_(gauge), amount_(amount) {
    gauge_.Increment(amount_);
  }
  ~GaugeGuard() { gauge_.Decrement(amount_); }
  GaugeGuard(const GaugeGuard&) = delete;

 private:
  prometheus::Gauge& gauge_;  // outlives this object
  const double amount_;
};

}  // namespace halite
