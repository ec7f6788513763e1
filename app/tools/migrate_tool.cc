#include "app/tools/migrate_tool.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/bulk/checkpoint.h"
#include "app/bulk/compare_points.h"
#include "app/bulk/copy_points.h"
#include "app/bulk/opened_data.h"
#include "app/bulk/progress.h"
#include "app/bulk/server_source.h"
#include "app/bulk/store_target.h"
#include "app/bulk/url_target.h"
#include "app/server/wait_for.h"
#include "common/log.h"
#include "common/threads/io_threads.h"
#include "common/units.h"

namespace halite::app {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kFollowInterval{2};

std::string checkpoint_of(const MigrateFlags& flags) {
  return flags.checkpoint.empty() ? kMigrateCheckpoint : flags.checkpoint;
}

// The target, and the same as a source to compare with.
struct OpenedTarget {
  IoThreads threads{1, "tool"};
  std::unique_ptr<OpenedData> data;  // null: a server
  std::unique_ptr<ingest::Writer> writer;
  std::unique_ptr<ImportTarget> target;
  std::unique_ptr<PointSource> as_source;  // null: a server that is not compared
};

Result<std::unique_ptr<OpenedTarget>> open_target(const Options& options, const MigrateFlags& flags,
                                                  std::vector<SourceMatch> matches) {
  auto opened = std::make_unique<OpenedTarget>();
  if (!flags.to_url.empty()) {
    TRY(Peer peer, make_peer(flags.to_url, flags.to_peer));
    TRY(opened->target, UrlTarget::open(peer, ingest::ImportFormat(), options.ingest));
    // A token that may only write is enough for the copy.
    if (flags.follow || flags.verify || !flags.copy) {
      TRY(opened->as_source, open_server_source(std::move(peer), std::move(matches)));
    }
    return opened;
  }
  TRY(opened->data, OpenedData::open(options, flags.copy ? DataUse::kFill : DataUse::kRead));
  Stores& stores = opened->data->stores();
  opened->writer = std::make_unique<ingest::Writer>(
      stores.counters().points(), opened->data->clock(), options.ingest, opened->data->registry());
  opened->target =
      std::make_unique<StoreTarget>(*opened->writer, ingest::ImportFormat(),
                                    [&points = stores.points()] { return points.flush(); });
  opened->as_source =
      std::make_unique<StoreSource>(stores.points(), std::move(matches), span_of(options));
  return opened;
}

class Migration {
 public:
  Migration(const MigrateFlags& flags, PointSource& source, OpenedTarget& target, TimeRange range,
            const Print& out, const Print& err)
      : flags_(flags), source_(source), target_(target), range_(range), out_(out), err_(err) {}

  // Whether the target has everything.
  Result<bool> run();

 private:
  Result<CopyResult> copy(TimeRange range, bool first);
  Result<PointDifferences> compare(TimeRange range);
  Result<bool> verify();
  // Whether the target took everything.
  Result<bool> follow(TimestampMs began);
  // With what has arrived since the start, unless the range has an end of its own.
  [[nodiscard]] TimeRange range_now() const;
  [[nodiscard]] unsigned threads() const { return thread_count(flags_.jobs); }
  [[nodiscard]] boost::asio::any_io_executor executor() {
    return target_.data ? target_.data->executor() : target_.threads.executors().front();
  }

  const MigrateFlags& flags_;
  PointSource& source_;
  OpenedTarget& target_;
  const TimeRange range_;
  const Print& out_;
  const Print& err_;
};

TimeRange Migration::range_now() const {
  TimeRange range = range_;
  if (flags_.source.end.empty()) range.end = std::max(range.end, SystemClock().now_ms() + kHourMs);
  return range;
}

Result<CopyResult> Migration::copy(TimeRange range, bool first) {
  source_.refresh();
  CopyJob job{.source = source_,
              .target = *target_.target,
              .executor = executor(),
              .walk = {.range = range, .from = {}, .threads = threads()},
              .task = flags_.task,
              .checkpoint = {},
              .checkpoint_interval = interval_ms(flags_.checkpoint_interval_s),
              .resume = flags_.resume && first,
              .errors = first ? flags_.errors : std::string(),
              .quiet = flags_.quiet || !first};
  if (first) job.checkpoint = checkpoint_of(flags_);
  return copy_points(std::move(job), err_);
}

Result<PointDifferences> Migration::compare(TimeRange range) {
  source_.refresh();
  target_.as_source->refresh();
  const bool to_server = !flags_.to_url.empty();
  if (to_server) range.begin = std::max(range.begin, kServerTimeMin);
  Progress progress(0, flags_.quiet);
  return compare_points(
      source_, *target_.as_source,
      {.range = range,
       .threads = threads(),
       .kinds = !to_server && flags_.source.url.empty(),
       .only_where_first = to_server,
       .progress = [&progress](std::uint64_t points) { progress.set(0, {.points = points}); }});
}

Result<bool> Migration::verify() {
  err_("comparing both");
  TRY(const PointDifferences found, compare(range_now()));
  for (const std::string& example : found.examples) out_(example);
  out_(
      fmt::format("{} compared: {} missing in the target, {} with another value, {} only in the "
                  "target",
                  counted(found.points, "point"), found.missing, found.different, found.extra));
  // A misspelled --match must not pass for a verified copy.
  if (found.points == 0) {
    return fail(Errc::kNotFound,
                "nothing was compared: the source has no points for this --match, --start and "
                "--end");
  }
  return found.contained();
}

// Copies what the source receives, until it receives nothing for a while. What the target refuses
// again and again counts as nothing.
Result<bool> Migration::follow(TimestampMs began) {
  err_(
      fmt::format("following the source until it has nothing new for {} s; points up to {} s late "
                  "are followed, too",
                  flags_.quiet_ms / 1000, flags_.overlap_ms / 1000));
  auto changed = steady_clock::now();
  std::uint64_t refused = 0;  // what the last copy could not store
  while (true) {
    const TimestampMs now = SystemClock().now_ms();
    TimeRange range = range_now();
    range.begin = std::max(range.begin, began - flags_.overlap_ms);
    TRY(const PointDifferences found, compare(range));
    const std::uint64_t wanted = found.missing + found.different;
    if (wanted <= refused) {
      if (steady_clock::now() - changed >= std::chrono::milliseconds(flags_.quiet_ms)) {
        return wanted == 0;
      }
    } else {
      TRY(const CopyResult copied, copy(range, false));
      err_(fmt::format("copied {}", counted(wanted, "new or changed point")));
      refused = copied.totals.refused > 0 ? wanted : 0;
      changed = steady_clock::now();
      if (refused == 0) began = now;
    }
    std::this_thread::sleep_for(kFollowInterval);
  }
}

Result<bool> Migration::run() {
  bool complete = true;
  TimestampMs began = SystemClock().now_ms();
  if (flags_.copy) {
    TRY(const CopyResult copied, copy(range_, true));
    out_(fmt::format("{} copied, {}", counted(copied.totals.points, "point"),
                     counted(copied.totals.refused, "refusal")));
    if (copied.totals.points == 0) err_("the source has no such points");
    complete = copied.totals.refused == 0;
    began = copied.began;
  }
  if (flags_.follow) {
    TRY(const bool all, follow(began));
    complete = complete && all;
  }
  if (flags_.verify || !flags_.copy) {
    TRY(const bool contained, verify());
    complete = complete && contained;
  }
  if (target_.data && flags_.copy) {
    err_("writing the points into their final form");
    TRY_VOID(wait_for(executor(), target_.data->stores().points().seal()));
  }
  return complete;
}

Result<bool> run_migration(const Options& from, const Options& to, const MigrateFlags& flags,
                           const Print& out, const Print& err) {
  if (flags.follow && flags.source.url.empty() && from.store != StoreKind::kHBase) {
    return fail(Errc::kInvalidArgument,
                "--follow needs a server or HBase as source: a data directory receives no points "
                "meanwhile");
  }
  if (flags.copy) {
    TRY_VOID(check_distinct({{.flag = "--errors", .path = flags.errors}}, checkpoint_of(flags)));
  }
  TRY(const OpenedSource source, open_source(from, flags.source));
  TRY(std::vector<SourceMatch> matches, parse_matches(flags.source.match));
  TRY(const auto target, open_target(to, flags, std::move(matches)));
  Result<bool> complete = Migration(flags, *source.source, *target, source.range, out, err).run();
  if (target->data) {
    target->as_source.reset();
    target->target.reset();
    target->writer.reset();
    const Result<void> closed = target->data->close();
    if (complete && !closed) return std::unexpected(closed.error());
  }
  return complete;
}

}  // namespace

MigrateStatus migrate_points(const Options& from, const Options& to, const MigrateFlags& flags,
                             const Print& out, const Print& err) {
  spdlog::set_level(spdlog::level::warn);
  const Result<bool> complete = run_migration(from, to, flags, out, err);
  if (!complete) {
    err(complete.error().message);
    return MigrateStatus::kFailed;
  }
  return *complete ? MigrateStatus::kSame : MigrateStatus::kDifferent;
}

}  // namespace halite::app
