// Self-metrics: stores the server's own metrics as points halite.* with the tag host.
//
//   Threads  a separate thread works between start() and stop().
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include <boost/asio/any_io_executor.hpp>

#include "app/server/process_metrics.h"
#include "app/server/store_metrics.h"
#include "app/settings/options.h"
#include "common/clock.h"
#include "ingest/writer.h"

namespace prometheus {
class Registry;
}

namespace halite::app {

class SelfMetrics {
 public:
  // All references outlive this object.
  SelfMetrics(const Options& options, const Stores& stores, ingest::Writer& writer,
              prometheus::Registry& registry, const Clock& clock,
              boost::asio::any_io_executor executor);
  ~SelfMetrics();  // stops

  void start();
  void stop();  // waits for points being written

 private:
  void run(const std::stop_token& stop);
  void take();

  SelfMetricsOptions options_;
  ingest::Writer& writer_;
  prometheus::Registry& registry_;
  const Clock& clock_;
  boost::asio::any_io_executor executor_;
  ProcessMetrics process_;
  StoreMetrics store_;
  bool failing_ = false;  // the last points were not stored; log it once; used by thread_
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace halite::app
