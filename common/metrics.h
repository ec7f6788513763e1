// Registration of Halite's own metrics with Prometheus, in one call at the place of use. A repeated
// call with an equal name and equal labels returns the existing metric.
//
//   Threads   call from any thread; the returned metrics are thread-safe.
//   Lifetime  the metrics live as long as the registry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

namespace halite {

using MetricBounds = prometheus::Histogram::BucketBoundaries;

[[nodiscard]] prometheus::Counter& add_counter(prometheus::Registry& registry,
                                               const std::string& name, const std::string& help,
                                               const prometheus::Labels& labels = {});
[[nodiscard]] prometheus::Gauge& add_gauge(prometheus::Registry& registry, const std::string& name,
                                           const std::string& help,
                                           const prometheus::Labels& labels = {});
[[nodiscard]] prometheus::Histogram& add_histogram(prometheus::Registry& registry,
                                                   const std::string& name, const std::string& help,
                                                   const MetricBounds& bounds);
// Sets a counter to a total that is counted elsewhere. A counter never falls.
void raise_to(prometheus::Counter& counter, double total);

// Buckets for one synced disk write, 0.1 ms to 5 s.
[[nodiscard]] prometheus::Histogram& add_sync_seconds(prometheus::Registry& registry,
                                                      const std::string& name,
                                                      const std::string& help);

// Families for label values that are known only at run time. `labels` are the label names.
[[nodiscard]] prometheus::Family<prometheus::Counter>& counter_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help,
    const std::vector<std::string>& labels = {});
[[nodiscard]] prometheus::Family<prometheus::Histogram>& histogram_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help,
    const std::vector<std::string>& labels = {});

enum class MetricKind : std::uint8_t { kCounter, kGauge, kHistogram };

struct MetricDescription {
  std::string name;
  MetricKind kind;
  std::string help;
  std::vector<std::string> labels;  // names, in the order of registration
};

// All metrics that this process has registered in any registry, sorted by name.
[[nodiscard]] std::vector<MetricDescription> described_metrics();

}  // namespace halite
