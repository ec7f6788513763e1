#include "app/server/rules_reloader.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/units.h"
#include "storage/views/view_rules.h"

namespace halite::app {
namespace {

constexpr std::chrono::milliseconds kCheckInterval(1000);
constexpr std::int64_t kFileBytesMax = 16 * kMiB;
// An editor may write a file in parts. What deletes totals must stay in it for so long.
constexpr std::int64_t kRemovalDelayS = 10;

// A reader of anything but a file may wait forever.
Result<void> check_file(const std::string& path, const FileStamp& stamp) {
  if (stamp == FileStamp()) return {};  // reading says why
  if (!stamp.regular) {
    return fail(Errc::kInvalidArgument, fmt::format("{} is not a regular file", path));
  }
  if (stamp.bytes == 0) return fail(Errc::kInvalidArgument, fmt::format("{} is empty", path));
  if (stamp.bytes <= kFileBytesMax) return {};
  return fail(Errc::kTooLarge,
              fmt::format("{} has {} bytes, more than {}", path, stamp.bytes, kFileBytesMax));
}

// The first view that is not in the new rules, or whose totals they do not keep; empty: none.
Result<std::string> lost_views(std::string_view before, std::string_view now) {
  TRY(const std::vector<storage::ViewRule> used, storage::parse_view_rules(before));
  TRY(const std::vector<storage::ViewRule> fresh, storage::parse_view_rules(now));
  for (const storage::ViewRule& rule : used) {
    const auto same = std::ranges::find_if(fresh, [&rule](const storage::ViewRule& one) {
      return one.name == rule.name && one.definition() == rule.definition();
    });
    if (same == fresh.end()) return rule.name;
  }
  return std::string();
}

}  // namespace

RulesReloader::RulesReloader(const Options& started, SettingsFile file, Stores& stores)
    : stores_(stores), counters_(started.counters), views_(started.views) {
  const auto read = [this, path = file.path,
                     read = std::move(file.read)]() -> Result<std::shared_ptr<const Options>> {
    const FileStamp stamp = FileStamp::of(path);
    TRY_VOID(check_file(path, stamp));
    TRY(Options fresh, read());
    TRY_VOID(apply(fresh, std::time(nullptr) - stamp.seconds));
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

Result<void> RulesReloader::apply(const Options& fresh, std::int64_t file_age_s) {
  if (fresh.counters != counters_) {
    TRY_VOID(stores_.set_counter_rules(fresh));
    counters_ = fresh.counters;
  }
  if (fresh.views != views_) {
    TRY(const std::string lost, lost_views(views_, fresh.views));
    if (!lost.empty() && file_age_s < kRemovalDelayS) {
      return fail(Errc::kConflict,
                  fmt::format("it lacks the view \"{}\" as it was; its totals will be deleted if "
                              "the file stays unchanged for {} s",
                              lost, kRemovalDelayS));
    }
    TRY_VOID(stores_.set_view_rules(fresh));
    views_ = fresh.views;
  }
  return {};
}

}  // namespace halite::app
