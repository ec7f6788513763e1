#include "app/own_metrics.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <prometheus/registry.h>

#include "app/own_points.h"
#include "app/wait_for.h"
#include "common/log.h"

namespace halite::app {

OwnMetrics::OwnMetrics(OwnMetricsOptions options, ingest::Writer& writer,
                       prometheus::Registry& registry, const Clock& clock,
                       boost::asio::any_io_executor executor)
    : options_(std::move(options)),
      writer_(writer),
      registry_(registry),
      clock_(clock),
      executor_(std::move(executor)),
      process_(registry) {}

OwnMetrics::~OwnMetrics() { stop(); }

void OwnMetrics::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void OwnMetrics::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void OwnMetrics::run(const std::stop_token& stop) {
  const std::chrono::milliseconds interval(options_.interval_ms);
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    take();
    next = std::max(next + interval, std::chrono::steady_clock::now());
    woken_.wait_until(lock, stop, next, [] { return false; });
  }
}

void OwnMetrics::take() {
  process_.refresh();
  if (!options_.enabled) return;
  // Whole seconds: what is read back is then the time that was written, in either resolution.
  const TimestampMs now = clock_.now_ms() / 1000 * 1000;
  auto points = own_points(registry_.Collect(), options_.host, now);
  const Result<void> stored = wait_for(executor_, writer_.put_own(std::move(points)));
  if (!stored && !failing_) {
    log::warn("own metrics were not stored: {}", stored.error().message);
  } else if (stored && failing_) {
    log::info("own metrics are stored again");
  }
  failing_ = !stored;
}

}  // namespace halite::app
