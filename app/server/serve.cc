#include "app/server/serve.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/ranges.h>

#include "app/server/logging.h"
#include "app/server/readiness.h"
#include "app/server/server.h"
#include "app/version.h"
#include "common/log.h"

namespace halite::app {
namespace {

// Raises the limit of open connections and files to the maximum that the system allows.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    log::warn("cannot raise the limit of open files: {}", std::strerror(errno));
  }
}

// Returns large buffers to the system when they are freed. By default, glibc raises that threshold
// up to 32 MiB, and keeps an equal amount at the top of each thread's heap.
void give_back_large_buffers() {
  constexpr int kLargeBytes = 4 << 20;
  if (::mallopt(M_MMAP_THRESHOLD, kLargeBytes) != 1 ||
      ::mallopt(M_TRIM_THRESHOLD, kLargeBytes) != 1) {
    log::warn("mallopt failed: freed memory may stay with the process");
  }
}

// SIGHUP says that the terminal is gone. To a service, it says to read the files again, which
// happens without a signal.
void ignore_hangups_without_terminal() {
  if (::isatty(STDIN_FILENO) == 1) return;
  std::signal(SIGHUP, SIG_IGN);  // NOLINT(cert-err33-c): it cannot fail for SIGHUP
}

sigset_t ending_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction inherited{};
    ::sigaction(signal, nullptr, &inherited);
    // nohup starts the process with SIGHUP ignored; keep that.
    if (inherited.sa_handler != SIG_IGN) ::sigaddset(&signals, signal);
  }
  return signals;
}

void tell_service_manager(std::string_view state) {
  const Result<void> told = notify_service_manager(state);
  if (!told) log::warn("{}", told.error().message);
}

}  // namespace

Result<void> serve(const Options& options, const Config& config, SettingsFile file) {
  ignore_hangups_without_terminal();
  // Blocked here and in every thread created later: only this thread receives them.
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const LoggingScope running_log(options.log);
  raise_file_limit();
  give_back_large_buffers();
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): it cannot fail for SIGPIPE
  log::info("{}", version_line());
  if (!options.opentsdb.meaningless.empty()) {
    log::info("ignored properties: {}",
              fmt::format("{}", fmt::join(options.opentsdb.meaningless, ", ")));
  }
  if (!options.opentsdb.unknown.empty()) {
    log::warn("unknown properties, without effect: {}",
              fmt::format("{}", fmt::join(options.opentsdb.unknown, ", ")));
  }
  if (options.layout.ttl_ms > 0 && options.layout.ttl_ms < options.layout.span_ms) {
    log::warn(
        "storage.ttl_ms is {} ms, less than a slot of {} ms: older points are removed now. A "
        "number without a unit is in milliseconds; write 90d for 90 days",
        options.layout.ttl_ms, options.layout.span_ms);
  }
  Server server(options, config);
  int signal = 0;
  Result<void> started = server.start([&signals, &signal](std::chrono::milliseconds pause) {
    const auto s = std::chrono::duration_cast<std::chrono::seconds>(pause);
    const timespec time{s.count(), std::chrono::nanoseconds(pause - s).count()};
    const int taken = ::sigtimedwait(&signals, nullptr, &time);
    if (taken > 0) signal = taken;
    return taken <= 0;
  });
  if (!started && started.error().code != Errc::kCancelled) return started;
  if (started) {
    if (file.stamp.regular) server.follow(std::move(file));
    tell_service_manager("READY=1\nSTATUS=ready");
    ::sigwait(&signals, &signal);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // the next one ends the process
  log::info("stopping: {}", ::strsignal(signal));     // NOLINT(concurrency-mt-unsafe)
  tell_service_manager("STOPPING=1");
  TRY_VOID(server.stop());
  log::info("stopped");
  return {};
}

}  // namespace halite::app
