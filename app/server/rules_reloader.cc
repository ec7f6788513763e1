#include "app/server/rules_reloader.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"

namespace halite::app {
namespace {

constexpr std::chrono::milliseconds kCheckInterval(1000);

}  // namespace

RulesReloader::RulesReloader(const Options& started, SettingsFile file, Stores& stores)
    : stores_(stores), counters_(started.counters), views_(started.views) {
  const auto read = [this,
                     read = std::move(file.read)]() -> Result<std::shared_ptr<const Options>> {
    TRY(Options fresh, read());
    TRY_VOID(apply(fresh));
    return std::make_shared<const Options>(std::move(fresh));
  };
  const auto taken = [path = file.path](const Options&) {
    return fmt::format(
        "{} has changed: rules of counters and views apply now, other settings at the next start",
        path);
  };
  file_.start_from(std::make_shared<const Options>(started), {file.stamp},
                   {.paths = {file.path},
                    .read = read,
                    .taken = taken,
                    .refused = fmt::format("{} has changed, but is not used", file.path)},
                   kCheckInterval);
}

Result<void> RulesReloader::apply(const Options& fresh) {
  if (fresh.counters != counters_) {
    TRY_VOID(stores_.set_counter_rules(fresh));
    counters_ = fresh.counters;
  }
  if (fresh.views != views_) {
    TRY_VOID(stores_.set_view_rules(fresh));
    views_ = fresh.views;
  }
  return {};
}

}  // namespace halite::app
