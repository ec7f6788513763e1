#include "app/bulk/patience.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "common/log.h"

namespace halite::app {
namespace {

using std::chrono::steady_clock;

bool is_temporary(const Error& error) {
  return error.code == Errc::kUnavailable || error.code == Errc::kOverloaded ||
         error.code == Errc::kTimeout;
}

// Why to try again; nothing if that would not help.
std::optional<std::string> temporary_reason(const Result<ingest::Imported>& imported) {
  if (!imported) {
    return is_temporary(imported.error()) ? std::optional(imported.error().message) : std::nullopt;
  }
  const auto waits = std::ranges::find(imported->refused, true, &ingest::RefusedLine::passes);
  return waits == imported->refused.end() ? std::nullopt : std::optional(waits->reason);
}

}  // namespace

Result<ingest::Imported> store_patiently(std::unique_ptr<ImportPart> part,
                                         const std::function<std::unique_ptr<ImportPart>()>& again,
                                         const RetryTimes& times) {
  const steady_clock::time_point began = steady_clock::now();
  std::chrono::milliseconds pause = times.pause_min;
  while (true) {
    Result<ingest::Imported> imported = part->store();
    const std::optional<std::string> reason = temporary_reason(imported);
    if (!reason) return imported;
    if (steady_clock::now() - began >= times.total) {
      if (!imported) return imported;
      return fail(Errc::kOverloaded,
                  fmt::format("the target has refused points for {} s: {}",
                              std::chrono::duration_cast<std::chrono::seconds>(times.total).count(),
                              *reason));
    }
    const std::chrono::milliseconds wait =
        std::max(pause, std::min(part->pause_asked(), times.pause_asked_max));
    log::warn("the target cannot store now, trying again in {} ms: {}", wait.count(), *reason);
    std::this_thread::sleep_for(wait);
    pause = std::min(2 * pause, times.pause_max);
    part = again();
  }
}

}  // namespace halite::app
