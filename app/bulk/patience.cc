#include "app/bulk/patience.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

#include "common/log.h"

namespace halite::app {
namespace {

bool may_pass(const Error& error) {
  return error.code == Errc::kUnavailable || error.code == Errc::kOverloaded ||
         error.code == Errc::kTimeout;
}

// Why to try again; nothing if that would not help.
std::optional<std::string> passing_reason(const Result<ingest::Imported>& imported) {
  if (!imported) {
    return may_pass(imported.error()) ? std::optional(imported.error().message) : std::nullopt;
  }
  const auto waits = std::ranges::find(imported->refused, true, &ingest::RefusedLine::passes);
  return waits == imported->refused.end() ? std::nullopt : std::optional(waits->reason);
}

}  // namespace

bool Patience::try_again(const Result<ingest::Imported>& imported) {
  const std::optional<std::string> reason = passing_reason(imported);
  if (!reason || std::chrono::steady_clock::now() - began_ >= times_.total) return false;
  log::warn("the target is busy, trying again in {} ms: {}", pause_.count(), *reason);
  std::this_thread::sleep_for(pause_);
  pause_ = std::min(2 * pause_, times_.pause_max);
  return true;
}

}  // namespace halite::app
