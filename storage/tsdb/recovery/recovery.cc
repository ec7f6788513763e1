#include "storage/tsdb/recovery/recovery.h"

#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/log.h"
#include "common/threads/run_here.h"
#include "storage/catalog/names/deferred_names.h"
#include "storage/catalog/series_rows.h"
#include "storage/tsdb/head/head.h"
#include "storage/tsdb/maintenance/flush.h"
#include "storage/tsdb/wal/records.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kNamesMax = 64 * 1024;  // names waiting to be restored

// Collects points in a head of its own and numbers series as it finds them.
class Replay final : public log_records::SectionVisitor {
 public:
  Replay(const EngineOptions& options, const RecoveryDependencies& dependencies)
      : options_(options),
        retention_(dependencies.retention),
        chunks_(dependencies.chunks),
        names_table_(dependencies.names),
        series_(dependencies.series),
        series_room_(options.series_max) {
    begin_head(chunks_.states.mark().flush_number);
    begin_ = chunks_.states.mark().log_position;
  }

  Result<void> record(Sequence sequence, BytesView payload) {
    TRY_VOID(reader_.read(payload, *this));
    last_ = sequence;
    if (names_.size() >= kNamesMax) TRY_VOID(restore());
    if (head_->bytes() < options_.head_freeze_bytes) return {};
    // The log defines each id once for each head, and this head may continue. So after a crash the
    // replay must begin at the same record again.
    return flush(begin_);
  }

  // Call it at the end. Without damage every series is defined.
  Result<void> finish(bool damages) {
    if (unnamed_points_ > 0) {
      if (!damages) return fail(Errc::kCorruption, "the log holds points of an unnamed series");
      log::error(
          "{} points of the log are lost because the records with their series names are lost",
          unnamed_points_);
    }
    return last_ == 0 ? Result<void>() : flush(last_);
  }

  Result<void> flush(Sequence position) {
    TRY_VOID(restore());
    // Includes series that have rows: writing a row costs less than reading it.
    TRY_VOID(run_here(write_series_rows(series_, std::exchange(met_, {}))));
    const TsuidOf tsuid_of = [this](SeriesId id) -> Bytes { return Bytes(tsuids_[id]); };
    TRY(const FlushStats stats, flush_head(*head_, retention_, tsuid_of, position, chunks_.files));
    if (stats.points > 0) {
      log::info("recovered {} points from the log into {} chunks", stats.points, stats.chunks);
    }
    begin_head(head_->number());
    return {};
  }

  Result<void> name(const log_records::NameRecord& name) override {
    names_.push_back({.kind = static_cast<NameKind>(name.kind),
                      .uid = name.uid,
                      .name = std::string(name.name)});
    return {};
  }

  Result<void> series(const log_records::SeriesRecord& series) override {
    if (series.shard >= head_->shard_count()) return damaged("a shard that does not exist");
    const auto [known, is_new] =
        by_tsuid_.try_emplace(Bytes(series.tsuid), static_cast<SeriesId>(tsuids_.size()));
    if (is_new) {
      tsuids_.push_back(known->first);
      met_.push_back(known->first);
      // The log may have more series than the current limit, because it is older.
      if (tsuids_.size() > series_room_) {
        series_room_ = 2 * tsuids_.size();
        TRY_VOID(flush(begin_));
      }
    }
    meaning_[series.id] = known->second;
    return {};
  }

  Result<void> points(const log_records::PointColumns& points) override {
    if (points.shard >= head_->shard_count()) return damaged("a shard that does not exist");
    HeadShard& shard = head_->shard(points.shard);
    const std::lock_guard lock(shard.mutex());
    const std::size_t bytes_before = shard.bytes();
    for (std::size_t i = 0; i < points.series.size(); ++i) {
      const auto meaning = meaning_.find(points.series[i]);
      if (meaning == meaning_.end()) {
        ++unnamed_points_;
        continue;
      }
      auto index = head_->position_of(meaning->second);
      if (!index) {
        index = shard.add_series(meaning->second);
        head_->set_position(meaning->second, *index);
      }
      shard.append(*index, {.time = points.times[i],
                            .value = points.values[i],
                            .is_float = (points.flags[i] & kFloat) != 0});
    }
    head_->account(static_cast<std::int64_t>(shard.bytes() - bytes_before), points.series.size());
    return {};
  }

 private:
  Result<void> restore() {
    return run_here(
        restore_names(names_table_, retention_.base().widths(), std::exchange(names_, {})));
  }

  void begin_head(std::uint64_t last_number) {
    head_ = std::make_unique<Head>(last_number + 2, retention_.shard_count(),
                                   static_cast<SeriesId>(series_room_));
  }
  static std::unexpected<Error> damaged(const char* what) {
    return fail(Errc::kCorruption, std::string("the log holds ") + what);
  }

  const EngineOptions& options_;
  const Retention& retention_;
  ChunkDb& chunks_;
  const std::shared_ptr<Table> names_table_;
  Table& series_;
  log_records::SectionReader reader_;
  std::size_t series_room_;  // of the head
  std::unique_ptr<Head> head_;
  Sequence begin_ = 0;             // before the first record to read
  Sequence last_ = 0;              // 0 = none
  std::vector<LoggedName> names_;  // not yet restored
  std::uint64_t unnamed_points_ = 0;
  boost::unordered_flat_map<Bytes, SeriesId> by_tsuid_;
  std::vector<Bytes> tsuids_;  // by our numbers
  std::vector<Bytes> met_;     // those that may lack a row
  // The latest meaning of each id in the log.
  boost::unordered_flat_map<SeriesId, SeriesId> meaning_;
};

void report(const ReplayReport& replayed) {
  // The log has reported damage already.
  if (replayed.torn) log::warn("an incomplete write was removed from the end of the log");
}

}  // namespace

Result<std::unique_ptr<Log>> recover(const EngineOptions& options,
                                     RecoveryDependencies dependencies) {
  Replay replay(options, dependencies);
  ReplayCallbacks callbacks;
  callbacks.record = [&replay](Sequence sequence, BytesView payload) {
    return replay.record(sequence, payload);
  };
  callbacks.progress = [&dependencies](const ReplayProgress& progress) -> Result<void> {
    log::info("replaying the log: {} of {} MiB", progress.bytes_done >> 20,
              progress.bytes_total >> 20);
    return dependencies.progress ? dependencies.progress(progress) : Result<void>();
  };
  LogOptions log_options = options.log;
  const std::uint64_t position = dependencies.chunks.states.mark().log_position;
  log_options.flushed_unknown = position == kUnknownPosition;
  if (!log_options.flushed_unknown) log_options.flushed_upto = position;
  TRY(std::unique_ptr<Log> log,
      Log::open(dependencies.files, log_options, callbacks, dependencies.registry));
  report(log->replayed());
  TRY_VOID(replay.finish(!log->replayed().damages.empty()));
  // Store the position in the chunks, also if sequences were skipped or unknown.
  if (dependencies.chunks.states.mark().log_position != log->last())
    TRY_VOID(replay.flush(log->last()));
  TRY_VOID(log->truncate_upto(dependencies.chunks.states.mark().log_position));
  return log;
}

}  // namespace halite::storage::engine
