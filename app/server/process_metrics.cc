#include "app/server/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <prometheus/registry.h>

#include "app/server/logging.h"
#include "common/metrics.h"

namespace halite::app {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double count_entries(const char* directory) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(directory, error);
  if (error) return 0;
  return static_cast<double>(std::distance(begin(entries), end(entries)));
}

}  // namespace

ProcessMetrics::ProcessMetrics(prometheus::Registry& registry, const Clock& clock,
                               std::uint64_t memory_limit)
    : clock_(clock),
      cpu_seconds_(add_counter(registry, "halite_process_cpu_seconds_total",
                               "Processor time used, in user and system mode.")),
      resident_bytes_(add_gauge(registry, "halite_process_resident_bytes", "Resident memory.")),
      open_files_(add_gauge(registry, "halite_process_open_files", "Open files and sockets.")),
      threads_(add_gauge(registry, "halite_process_threads", "Running threads.")),
      uptime_seconds_(add_gauge(registry, "halite_process_uptime_seconds", "Time since start-up.")),
      time_seconds_(add_gauge(registry, "halite_process_time_seconds",
                              "The server's clock in seconds since 1970, read every "
                              "self_metrics.interval_ms.")),
      log_lines_dropped_(add_counter(registry, "halite_process_log_lines_dropped_total",
                                     "Log lines dropped because of log.queue_bytes_max.")) {
  add_gauge(registry, "halite_memory_limit_bytes", "Memory that the server plans to use.")
      .Set(static_cast<double>(memory_limit));
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    add_gauge(registry, "halite_process_open_files_limit",
              "Files and sockets that the process may open.")
        .Set(static_cast<double>(files.rlim_cur));
  }
  refresh();
}

void ProcessMetrics::refresh() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    raise_to(cpu_seconds_, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  }
  std::ifstream statm("/proc/self/statm");
  double pages_virtual = 0;
  double pages_resident = 0;
  if (statm >> pages_virtual >> pages_resident) {
    resident_bytes_.Set(pages_resident * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  }
  open_files_.Set(count_entries("/proc/self/fd"));
  threads_.Set(count_entries("/proc/self/task"));
  const std::chrono::duration<double> up = std::chrono::steady_clock::now() - started_;
  uptime_seconds_.Set(up.count());
  time_seconds_.Set(static_cast<double>(clock_.now_ms()) / 1000);
  raise_to(log_lines_dropped_, static_cast<double>(dropped_log_lines()));
}

}  // namespace halite::app
