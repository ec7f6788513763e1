// A figure of our own in a registry of Prometheus: in one call where it is made. Asked for again,
// a name with the same labels is the same figure.
//
//   Threads   any call from any thread, and so what it returns.
//   Lifetime  as long as the registry.
#pragma once

#include <string>

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
// Of one synced write to a disk, 0.1 ms to 5 s.
[[nodiscard]] prometheus::Histogram& add_sync_seconds(prometheus::Registry& registry,
                                                      const std::string& name,
                                                      const std::string& help);

// For labels that are not known yet.
[[nodiscard]] prometheus::Family<prometheus::Counter>& counter_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help);
[[nodiscard]] prometheus::Family<prometheus::Histogram>& histogram_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help);

}  // namespace halite
