#include "app/server/self_metrics.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <prometheus/registry.h>

#include "app/server/self_metric_points.h"
#include "app/server/wait_for.h"
#include "common/log.h"

namespace halite::app {

SelfMetrics::SelfMetrics(const Options& options, const Stores& stores, ingest::Writer& writer,
                         prometheus::Registry& registry, const Clock& clock,
                         boost::asio::any_io_executor executor)
    : options_(options.self_metrics),
      writer_(writer),
      registry_(registry),
      clock_(clock),
      executor_(std::move(executor)),
      process_(registry, clock, options.memory.limit),
      store_(options, stores, registry) {}

SelfMetrics::~SelfMetrics() { stop(); }

void SelfMetrics::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void SelfMetrics::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void SelfMetrics::run(const std::stop_token& stop) {
  const std::chrono::milliseconds interval(options_.interval_ms);
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    take();
    next = std::max(next + interval, std::chrono::steady_clock::now());
    woken_.wait_until(lock, stop, next, [] { return false; });
  }
}

void SelfMetrics::take() {
  process_.refresh();
  store_.refresh();
  if (!options_.enabled) return;
  // Whole seconds: then the timestamp read back equals the one written, in either resolution.
  const TimestampMs now = clock_.now_ms() / 1000 * 1000;
  auto points = self_metric_points(registry_.Collect(), options_.host, now);
  const Result<void> stored = wait_for(executor_, writer_.put_self_metrics(std::move(points)));
  if (!stored && !failing_) {
    log::warn("own metrics were not stored: {}", stored.error().message);
  } else if (stored && failing_) {
    log::info("own metrics are stored again");
  }
  failing_ = !stored;
}

}  // namespace halite::app
