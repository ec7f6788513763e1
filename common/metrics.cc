#include "common/metrics.h"

namespace halite {

prometheus::Counter& add_counter(prometheus::Registry& registry, const std::string& name,
                                 const std::string& help, const prometheus::Labels& labels) {
  return counter_family(registry, name, help).Add(labels);
}

prometheus::Gauge& add_gauge(prometheus::Registry& registry, const std::string& name,
                             const std::string& help, const prometheus::Labels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Histogram& add_histogram(prometheus::Registry& registry, const std::string& name,
                                     const std::string& help, const MetricBounds& bounds) {
  return histogram_family(registry, name, help).Add({}, bounds);
}

prometheus::Histogram& add_sync_seconds(prometheus::Registry& registry, const std::string& name,
                                        const std::string& help) {
  return add_histogram(
      registry, name, help,
      {0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5});
}

prometheus::Family<prometheus::Counter>& counter_family(prometheus::Registry& registry,
                                                        const std::string& name,
                                                        const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Histogram>& histogram_family(prometheus::Registry& registry,
                                                            const std::string& name,
                                                            const std::string& help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

}  // namespace halite
