#include "app/bulk/patience.h"

#include <algorithm>
#include <thread>

#include "common/log.h"

namespace halite::app {
namespace {

constexpr std::chrono::minutes kPatienceMax{10};
constexpr std::chrono::milliseconds kPatiencePauseMax{15'000};

}  // namespace

bool Patience::may_pass(const Error& error) {
  return error.code == Errc::kUnavailable || error.code == Errc::kOverloaded ||
         error.code == Errc::kTimeout;
}

bool Patience::try_again(const Result<ingest::Imported>& imported) {
  if (!imported) return may_pass(imported.error()) && pause(imported.error().message);
  const auto passing = std::ranges::find(imported->refused, true, &ingest::RefusedLine::passes);
  return passing != imported->refused.end() && pause(passing->reason);
}

bool Patience::pause(const std::string& why) {
  if (std::chrono::steady_clock::now() - began_ >= kPatienceMax) return false;
  log::warn("the target cannot store now, trying again in {} ms: {}", next_.count(), why);
  std::this_thread::sleep_for(next_);
  next_ = std::min(2 * next_, kPatiencePauseMax);
  return true;
}

}  // namespace halite::app
