#include "storage/tsdb/recovery/recovery.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <tuple>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <xxhash.h>

#include "common/log.h"
#include "common/threads/run_here.h"
#include "storage/catalog/series_rows.h"
#include "storage/tsdb/maintenance/flush.h"

namespace halite::storage::engine {
namespace {

constexpr std::uint32_t kSeriesBatch = 4096;  // series restored at a time
constexpr std::size_t kNameParts = 4;         // restored at the same time; each visits all names

LogOptions log_options(const EngineOptions& options, Sequence flushed) {
  LogOptions log = options.log;
  log.flushed_unknown = flushed == kUnknownPosition;
  if (!log.flushed_unknown) log.flushed_upto = flushed;
  return log;
}

// Where a series is in the head.
struct Place {
  SeriesId id = 0;
  std::uint32_t shard = UINT32_MAX;  // UINT32_MAX: no series
  std::uint32_t position = 0;
};

// The series of the head, in groups of kSeriesBatch ids.
std::vector<std::vector<Place>> group_by_ids(Head& head, SeriesId greatest) {
  std::vector<std::vector<Place>> groups(greatest / kSeriesBatch + 1);
  for (std::uint32_t shard = 0; shard < head.shard_count(); ++shard) {
    const HeadShard& series = head.shard(shard);
    for (std::uint32_t i = 0; i < series.series_count(); ++i) {
      const SeriesId id = series.at(i).id;
      std::vector<Place>& group = groups[id / kSeriesBatch];
      if (group.empty()) group.reserve(kSeriesBatch);
      group.push_back({.id = id, .shard = shard, .position = i});
    }
  }
  return groups;
}

// The series of such a group in the order of their ids. So those of one host, which were new at the
// same time, follow each other, and have their tags in common.
std::vector<LoggedSeries> logged_series(const LogReplay& replay, const std::vector<Place>& group) {
  std::vector<Place> by_id(kSeriesBatch);
  for (const Place& place : group) by_id[place.id % kSeriesBatch] = place;
  std::vector<LoggedSeries> series;
  series.reserve(group.size());
  for (const Place& place : by_id) {
    if (place.shard == UINT32_MAX) continue;
    series.push_back(
        {.id = place.id, .shard = place.shard, .tsuid = replay.tsuid(place.shard, place.position)});
  }
  return series;
}

// Tasks on a pool. The last one has ended when it is destroyed.
class PoolTasks {
 public:
  explicit PoolTasks(boost::asio::thread_pool& pool) : pool_(pool) {}
  ~PoolTasks() { std::ignore = wait(); }
  PoolTasks(const PoolTasks&) = delete;
  PoolTasks& operator=(const PoolTasks&) = delete;

  template <class Run>
  void run(Run run) {
    std::packaged_task<Result<void>()> task(std::move(run));
    running_.push_back(task.get_future());
    boost::asio::post(pool_, std::move(task));
  }

  // Returns the first error.
  Result<void> wait() {
    Result<void> outcome;
    for (std::future<Result<void>>& one : std::exchange(running_, {})) {
      Result<void> ended = one.get();
      if (!ended && outcome) outcome = std::move(ended);
    }
    return outcome;
  }

 private:
  boost::asio::thread_pool& pool_;
  std::vector<std::future<Result<void>>> running_;
};

}  // namespace

Recovery::Recovery(const EngineOptions& options, RecoveryDependencies dependencies)
    : series_limits_{.series = options.series_max, .bytes = options.series_bytes_max},
      flush_bytes_(options.head_bytes_max / 4 * 3),
      log_options_(log_options(options, dependencies.chunks.states.mark().log_position)),
      dependencies_(std::move(dependencies)),
      begin_(dependencies_.chunks.states.mark().log_position),
      replay_(std::make_unique<LogReplay>(dependencies_.chunks.states.mark().flush_number + 2,
                                          dependencies_.retention.shard_count(),
                                          log_options_.flushed_unknown ? 1 : options.read_threads)),
      stored_(dependencies_.retention.shard_count()) {}

Result<std::unique_ptr<Log>> Recovery::read_log() {
  ReplayCallbacks callbacks;
  callbacks.record = [this](Sequence /*sequence*/, BytesView payload) { return record(payload); };
  callbacks.progress = [this](const ReplayProgress& progress) -> Result<void> {
    log::info("replaying the log: {} of {} MiB", progress.bytes_done >> 20,
              progress.bytes_total >> 20);
    return dependencies_.progress ? dependencies_.progress(progress) : Result<void>();
  };
  TRY(std::unique_ptr<Log> log,
      Log::open(dependencies_.files, log_options_, callbacks, dependencies_.registry));
  TRY_VOID(replay_->wait());
  // The log has reported damage already.
  if (log->replayed().torn) log::warn("an incomplete write was removed from the end of the log");
  TRY_VOID(check_names(log->replayed()));
  if (log->replayed().records == 0 && log->last() == begin_) {
    replay_.reset();
    TRY_VOID(log->truncate_upto(begin_));
  } else if (!may_restore(log->replayed())) {
    TRY_VOID(flush(*log));
  }
  return log;
}

Result<void> Recovery::record(BytesView payload) {
  TRY_VOID(replay_->add(payload));
  if (replay_->bytes() < flush_bytes_) return {};
  TRY_VOID(replay_->wait());
  // The log defines each id once for each head, and this head may continue. So after a crash the
  // replay must begin at the same record again.
  TRY_VOID(flush_upto(begin_));
  replay_->begin_head(replay_->head()->number() + 2);
  return {};
}

// Without damage every series is defined.
Result<void> Recovery::check_names(const ReplayReport& report) const {
  const std::uint64_t unnamed = replay_->unnamed_points();
  if (unnamed == 0) return {};
  if (report.damages.empty() && !report.end_lost) {
    return fail(Errc::kCorruption, "the log holds points of an unnamed series");
  }
  log::error("{} points of the log are lost because the records with their series names are lost",
             unnamed);
  return {};
}

bool Recovery::may_restore(const ReplayReport& report) const {
  if (replay_->head()->points() == 0) return false;
  // The position in the chunks must pass lost and skipped records.
  if (!report.damages.empty() || report.end_lost || log_options_.flushed_unknown) return false;
  return replay_->is_consistent() && replay_->head()->bytes() < flush_bytes_ && series_fit();
}

// Whether the series table has room for all series, as it counts their memory.
bool Recovery::series_fit() const {
  if (replay_->greatest_id() >= series_limits_.series) return false;
  const UidWidths widths = dependencies_.retention.base().widths();
  const auto bytes_if = [this, &widths](auto is_new) {
    std::size_t bytes = 0;
    for (std::uint32_t shard = 0; shard < replay_->head()->shard_count(); ++shard) {
      for (std::uint32_t i = 0; i < replay_->head()->shard(shard).series_count(); ++i) {
        const BytesView tsuid = replay_->tsuid(shard, i);
        const BytesView tags = tsuid.substr(std::min<std::size_t>(widths.metric, tsuid.size()));
        bytes += series_bytes(tags.size() / (widths.tag_key + widths.tag_value), tsuid.size(),
                              is_new(tags));
      }
    }
    return bytes;
  };
  // Usually they fit even if no series shared a tag set, and that takes little time to see.
  if (bytes_if([](BytesView) { return true; }) <= series_limits_.bytes) return true;
  boost::unordered_flat_set<std::uint64_t> tag_sets;  // hashes: a collision only underestimates
  const auto is_new = [&tag_sets](BytesView tags) {
    return tag_sets.insert(XXH3_64bits(tags.data(), tags.size())).second;
  };
  return bytes_if(is_new) <= series_limits_.bytes;
}

// Moves the names of the log to names_, without those that have rows.
Result<void> Recovery::take_names() {
  std::vector<LoggedName> names = replay_->take_names();
  names_.insert(names_.end(), std::make_move_iterator(names.begin()),
                std::make_move_iterator(names.end()));
  TRY(names_, run_here(names_without_rows(dependencies_.names,
                                          dependencies_.retention.base().widths(), names_)));
  return {};
}

// Includes series that have rows: writing a row costs less than reading it.
Result<void> Recovery::write_series() {
  for (std::uint32_t shard = 0; shard < replay_->head()->shard_count(); ++shard) {
    const std::uint32_t count = replay_->head()->shard(shard).series_count();
    for (std::uint32_t& next = stored_[shard]; next < count;) {
      const std::uint32_t end = std::min(next + kSeriesBatch, count);
      std::vector<Bytes> tsuids;
      for (std::uint32_t i = next; i < end; ++i) tsuids.emplace_back(replay_->tsuid(shard, i));
      TRY_VOID(run_here(write_series_rows(dependencies_.series, std::move(tsuids))));
      next = end;
    }
  }
  return {};
}

Result<void> Recovery::flush_upto(Sequence position) {
  TRY_VOID(replay_->check_series());
  TRY_VOID(take_names());
  TRY_VOID(run_here(
      write_logged_names(dependencies_.names, dependencies_.retention.base().widths(), names_)));
  names_ = {};
  TRY_VOID(write_series());
  const TsuidOf tsuid_of = [this](std::uint32_t shard, std::uint32_t at) {
    return Bytes(replay_->tsuid(shard, at));
  };
  TRY(const FlushStats stats, flush_head(*replay_->head(), dependencies_.retention, tsuid_of,
                                         position, dependencies_.chunks.files));
  if (stats.points > 0) {
    log::info("recovered {} points from the log into {} chunks", stats.points, stats.chunks);
  }
  return {};
}

Result<void> Recovery::flush(Log& log) {
  if (replay_ == nullptr) return {};
  TRY_VOID(flush_upto(log.last()));
  replay_.reset();
  return log.truncate_upto(dependencies_.chunks.states.mark().log_position);
}

Result<std::shared_ptr<Head>> Recovery::restore_head(SeriesRegistry& registry,
                                                     boost::asio::thread_pool& pool) {
  TRY_VOID(take_names());
  const std::shared_ptr<Head> head = replay_->head();
  PoolTasks naming(pool);
  for (std::size_t part = 0; part < kNameParts; ++part) {
    naming.run([this, &registry, part]() -> Result<void> {
      registry.uids().restore(names_, {.number = part, .count = kNameParts});
      return {};
    });
  }
  const auto groups = group_by_ids(*head, replay_->greatest_id());
  TRY_VOID(naming.wait());
  PoolTasks restoring(pool);
  for (const std::vector<Place>& group : groups) {
    if (group.empty()) continue;
    restoring.run([this, &registry, &group] {
      return run_here(registry.restore(logged_series(*replay_, group)));
    });
  }
  const Result<void> outcome = restoring.wait();
  registry.end_restore();
  if (!outcome && outcome.error().code == Errc::kConflict) {
    return fail(Errc::kCorruption, "the log holds a series with two ids");
  }
  TRY_VOID(outcome);
  log::info("read {} points of {} series from the log", head->points(), registry.table().size());
  // To return their memory takes a while, for which the start need not wait.
  boost::asio::post(pool, [replay = std::shared_ptr<LogReplay>(std::move(replay_)),
                           names = std::exchange(names_, {})] {});
  return head;
}

}  // namespace halite::storage::engine
