#include "storage/backends/hbase/client/client_context.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/hbase/security/server_transport.h"

namespace halite::storage::hbase {

namespace {

constexpr unsigned kDoublingsMax = 16;
constexpr unsigned kAtOnceMax = 3;  // after so many retries without a pause, a pause follows

std::uint64_t seed_or_random(std::uint64_t seed) {
  if (seed != 0) return seed;
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

std::unique_ptr<ConnectionRegistry> make_registry(const ClientOptions& options,
                                                  ConnectionPool& servers,
                                                  const boost::asio::any_io_executor& executor,
                                                  const TaskTracker& activity) {
  if (!options.registry.empty()) return rpc_registry(options, servers);
  return zookeeper_registry(options, executor, activity);
}

// An error of HBase for a caller who did not cause it.
Error outage(Error error) {
  const bool blames = error.code == Errc::kNotFound || error.code == Errc::kConflict ||
                      error.code == Errc::kInvalidArgument || error.code == Errc::kTooLarge;
  if (blames) error.code = Errc::kUnavailable;
  return error;
}

}  // namespace

bool CloseHooks::add(std::uint64_t id, std::function<void()> hook) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  hooks_.emplace(id, std::move(hook));
  return true;
}

void CloseHooks::remove(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  hooks_.erase(id);
}

void CloseHooks::run() {
  std::map<std::uint64_t, std::function<void()>> hooks;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    hooks.swap(hooks_);
  }
  for (const auto& [id, hook] : hooks) hook();
}

ClientContext::ClientContext(ClientOptions client_options,
                             std::vector<boost::asio::any_io_executor> io,
                             prometheus::Registry& metrics)
    : options(std::move(client_options)),
      executors(std::move(io)),
      stats(metrics),
      servers(options, executors, server_transport(options), stats),
      pauses(std::make_shared<CancellableDelays>(executors.front())),
      registry(make_registry(options, servers, executors.front(), activity)),
      locator(options, servers, *registry, stats),
      operations(std::make_shared<Semaphore>(
          SemaphoreLoad{.items = 0, .bytes = options.operation_bytes_max})),
      nonce_group(seed_or_random(options.seed) | 1),
      random_(nonce_group) {}

std::uint64_t ClientContext::nonce() {
  const std::lock_guard lock(random_mutex_);
  return random_() | 1;
}

std::uint32_t ClientContext::jittered(std::uint64_t ms) {
  const std::lock_guard lock(random_mutex_);
  std::uniform_real_distribution<double> factor(0.8, 1.2);
  return static_cast<std::uint32_t>(static_cast<double>(ms) * factor(random_));
}

const boost::asio::any_io_executor& ClientContext::next_executor() {
  return executors[next_executor_++ % executors.size()];
}

Retry::Retry(ClientContextPtr context, std::uint32_t limit_ms, Subject about, TimePoint end)
    : context_(std::move(context)), limit_ms_(limit_ms), subject_(about), end_(end) {
  progress();
}

void Retry::progress() {
  deadline_ =
      std::min(end_, std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms_));
  attempts_ = 0;
  at_once_ = 0;
  limited_ = 0;
}

std::uint32_t Retry::call_ms() const {
  using std::chrono::milliseconds;
  const auto left =
      std::chrono::duration_cast<milliseconds>(deadline_ - std::chrono::steady_clock::now());
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(left.count(), 1, context_->options.call_ms_max));
}

Task<void> Retry::after(const Fault& fault) {
  const bool tried_enough = fault.tries_max != 0 && ++limited_ >= fault.tries_max;
  if (fault.remedy == Remedy::kGiveUp || tried_enough) {
    co_return std::unexpected(subject_ == Subject::kRows ? outage(fault.error) : fault.error);
  }
  const ClientOptions& options = context_->options;
  context_->stats.retries.Increment();
  const bool no_pause = fault.remedy == Remedy::kAtOnce || fault.remedy == Remedy::kMoved ||
                        fault.remedy == Remedy::kReopen;
  if (no_pause && ++at_once_ <= kAtOnceMax && std::chrono::steady_clock::now() < deadline_) {
    co_return Result<void>();
  }
  std::uint64_t pause = std::uint64_t{options.pause_ms_min} << std::min(attempts_++, kDoublingsMax);
  if (fault.remedy == Remedy::kOverloaded) {
    pause = std::max<std::uint64_t>(pause, options.overloaded_ms_min);
  }
  pause = std::min<std::uint64_t>(pause, options.pause_ms_max);
  pause = std::max<std::uint64_t>(context_->jittered(pause), fault.pause_ms);
  if (std::chrono::steady_clock::now() + std::chrono::milliseconds(pause) >= deadline_) {
    Error error = subject_ == Subject::kRows ? outage(fault.error) : fault.error;
    error.message = fmt::format("not done within {} ms: {}", limit_ms_, error.message);
    // A silent server counts as unavailable; kTimeout would blame the request.
    if (error.code == Errc::kTimeout) error.code = Errc::kUnavailable;
    co_return std::unexpected(std::move(error));
  }
  Task<void> pausing = context_->pauses->pause(static_cast<std::uint32_t>(pause));
  co_return co_await std::move(pausing);
}

}  // namespace halite::storage::hbase
