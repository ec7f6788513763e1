// One of those that a gauge counts, while this lives, however it ends: also by an exception.
#pragma once

#include <prometheus/gauge.h>

namespace halite {

class Counted {
 public:
  explicit Counted(prometheus::Gauge& gauge) : gauge_(gauge) { gauge_.Increment(); }
  ~Counted() { gauge_.Decrement(); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  prometheus::Gauge& gauge_;  // outlives it
};

}  // namespace halite
