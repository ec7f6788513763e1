#include "common/metrics.h"

#include <map>
#include <mutex>

namespace halite {
namespace {

struct Descriptions {
  std::mutex mutex;
  std::map<std::string, MetricDescription> by_name;
};

Descriptions& descriptions() {
  static Descriptions all;
  return all;
}

void describe(const std::string& name, MetricKind kind, const std::string& help,
              const std::vector<std::string>& labels) {
  Descriptions& all = descriptions();
  const std::lock_guard lock(all.mutex);
  all.by_name.try_emplace(
      name, MetricDescription{.name = name, .kind = kind, .help = help, .labels = labels});
}

std::vector<std::string> names_of(const prometheus::Labels& labels) {
  std::vector<std::string> names;
  names.reserve(labels.size());
  for (const auto& [name, value] : labels) names.push_back(name);
  return names;
}

}  // namespace

prometheus::Counter& add_counter(prometheus::Registry& registry, const std::string& name,
                                 const std::string& help, const prometheus::Labels& labels) {
  return counter_family(registry, name, help, names_of(labels)).Add(labels);
}

prometheus::Gauge& add_gauge(prometheus::Registry& registry, const std::string& name,
                             const std::string& help, const prometheus::Labels& labels) {
  describe(name, MetricKind::kGauge, help, names_of(labels));
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Histogram& add_histogram(prometheus::Registry& registry, const std::string& name,
                                     const std::string& help, const MetricBounds& bounds) {
  return histogram_family(registry, name, help).Add({}, bounds);
}

void raise_to(prometheus::Counter& counter, double total) {
  const double before = counter.Value();
  if (total > before) counter.Increment(total - before);
}

prometheus::Histogram& add_sync_seconds(prometheus::Registry& registry, const std::string& name,
                                        const std::string& help) {
  return add_histogram(
      registry, name, help,
      {0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5});
}

prometheus::Family<prometheus::Counter>& counter_family(prometheus::Registry& registry,
                                                        const std::string& name,
                                                        const std::string& help,
                                                        const std::vector<std::string>& labels) {
  describe(name, MetricKind::kCounter, help, labels);
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Histogram>& histogram_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help,
    const std::vector<std::string>& labels) {
  describe(name, MetricKind::kHistogram, help, labels);
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

std::vector<MetricDescription> described_metrics() {
  Descriptions& all = descriptions();
  const std::lock_guard lock(all.mutex);
  std::vector<MetricDescription> list;
  list.reserve(all.by_name.size());
  for (const auto& [name, description] : all.by_name) list.push_back(description);
  return list;
}

}  // namespace halite
