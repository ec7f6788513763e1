#include "app/tools/migrate_tool.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/bulk/compare_points.h"
#include "app/bulk/copy_points.h"
#include "app/bulk/opened_data.h"
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

constexpr std::chrono::seconds kFollowInterval{10};

// The target, and the same as a source to compare with.
struct OpenedTarget {
  IoThreads threads{1, "tool"};
  std::unique_ptr<OpenedData> data;  // null: a server
  std::unique_ptr<ingest::Writer> writer;
  std::unique_ptr<ImportTarget> target;
  std::unique_ptr<PointSource> stored;
};

Result<std::unique_ptr<OpenedTarget>> open_target(const Options& options, const MigrateFlags& flags,
                                                  std::vector<SourceMatch> matches) {
  auto opened = std::make_unique<OpenedTarget>();
  if (!flags.to_url.empty()) {
    TRY(Peer peer, make_peer(flags.to_url, flags.to_peer));
    auto target = std::make_unique<UrlTarget>(peer, ingest::ImportFormat(), options.ingest);
    TRY_VOID(target->check());
    TRY(opened->stored, open_server_source(std::move(peer), std::move(matches)));
    opened->target = std::move(target);
    return opened;
  }
  TRY(opened->data, OpenedData::open(options, DataUse::kFill));
  Stores& stores = opened->data->stores();
  opened->writer = std::make_unique<ingest::Writer>(
      stores.counters().points(), opened->data->clock(), options.ingest, opened->data->registry());
  opened->target =
      std::make_unique<StoreTarget>(*opened->writer, ingest::ImportFormat(),
                                    [&points = stores.points()] { return points.flush(); });
  opened->stored =
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
  Result<ImportTotals> copy(TimeRange range, bool first);
  // As both sides can be asked.
  Result<PointDifferences> compare(TimeRange range);
  Result<bool> verify(TimeRange range);
  Result<void> follow(TimestampMs began);
  [[nodiscard]] unsigned threads() const {
    return flags_.jobs > 0 ? flags_.jobs : std::max(1U, std::thread::hardware_concurrency());
  }
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

Result<ImportTotals> Migration::copy(TimeRange range, bool first) {
  source_.refresh();
  CopyJob job{.source = source_,
              .target = *target_.target,
              .executor = executor(),
              .walk = {.range = range, .from = {}, .threads = threads()},
              .task = flags_.task,
              .checkpoint = {},
              .resume = flags_.resume && first,
              .errors = first ? flags_.errors : std::string(),
              .quiet = flags_.quiet || !first};
  if (first) job.checkpoint = flags_.checkpoint.empty() ? kMigrateCheckpoint : flags_.checkpoint;
  return copy_points(std::move(job), err_);
}

Result<PointDifferences> Migration::compare(TimeRange range) {
  source_.refresh();
  target_.stored->refresh();
  if (!flags_.to_url.empty()) range.begin = std::max(range.begin, kServerTimeMin);
  return compare_points(source_, *target_.stored, {.range = range, .threads = threads()});
}

Result<bool> Migration::verify(TimeRange range) {
  err_("comparing both");
  TRY(const PointDifferences found, compare(range));
  for (const std::string& example : found.examples) out_(example);
  out_(
      fmt::format("{} points compared: {} missing in the target, {} with another value, {} only in "
                  "the target",
                  found.points, found.missing, found.different, found.extra));
  return found.contained();
}

// Copies what the source receives, until it receives nothing for a while.
Result<void> Migration::follow(TimestampMs began) {
  err_(
      fmt::format("following the source until it has nothing new for {} s; points up to {} s late "
                  "are followed, too",
                  flags_.quiet_ms / 1000, flags_.overlap_ms / 1000));
  auto changed = steady_clock::now();
  while (true) {
    const TimestampMs now = SystemClock().now_ms();
    const TimeRange range = {.begin = std::max(range_.begin, began - flags_.overlap_ms),
                             .end = std::max(range_.end, now + kHourMs)};
    TRY(const PointDifferences found, compare(range));
    if (found.contained()) {
      const auto quiet = steady_clock::now() - changed;
      if (quiet >= std::chrono::milliseconds(flags_.quiet_ms)) return {};
      std::this_thread::sleep_for(kFollowInterval);
      continue;
    }
    TRY(const ImportTotals totals, copy(range, false));
    static_cast<void>(totals);
    err_(fmt::format("copied {} new or changed points", found.missing + found.different));
    changed = steady_clock::now();
    began = now;
  }
}

Result<bool> Migration::run() {
  const TimestampMs began = SystemClock().now_ms();
  bool complete = true;
  if (flags_.copy) {
    TRY(const ImportTotals totals, copy(range_, true));
    out_(fmt::format("{} points copied, {} series refused in part", totals.points, totals.refused));
    complete = totals.refused == 0;
  }
  if (flags_.follow) TRY_VOID(follow(began));
  if (flags_.verify || !flags_.copy) {
    TRY(const bool contained, verify(range_));
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
                "--follow needs a server or HBase as source: nobody writes to a data directory "
                "meanwhile");
  }
  TRY(const OpenedSource source, open_source(from, flags.source));
  TRY(std::vector<SourceMatch> matches, parse_matches(flags.source.match));
  TRY(const auto target, open_target(to, flags, std::move(matches)));
  Result<bool> complete = Migration(flags, *source.source, *target, source.range, out, err).run();
  if (target->data) {
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
