#include "storage/tsdb/engine_appender.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "common/metrics.h"
#include "storage/tsdb/core/all_times.h"
#include "storage/tsdb/wal/records.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kRecordPointsMax = 1 << 16;
constexpr std::size_t kPointBytesMax = 21;         // of one point in a record
constexpr std::size_t kDefinedBytesMax = 4 << 20;  // names and series in a record; then it ends
constexpr std::size_t kDefinedOverMax = 1 << 10;   // for its last series, and column heads
constexpr std::size_t kAhead = 8;                  // points to prefetch ahead

prometheus::Counter& points_counter(prometheus::Registry& registry, const char* outcome) {
  return add_counter(registry, "halite_engine_points_total",
                     "Points accepted by the engine, or refused because of their time, by outcome.",
                     {{"outcome", outcome}});
}

// Threads start at different shards, so that threads with simultaneous batches do not meet at the
// lock of each shard.
std::uint32_t first_shard(std::uint32_t shards) {
  static std::atomic<std::uint32_t> threads = 0;
  constexpr std::uint32_t kFarApart = 0x9E3779B9;  // the golden ratio of 2^32
  thread_local const std::uint32_t kPlace = threads.fetch_add(1) * kFarApart;
  return static_cast<std::uint32_t>(std::uint64_t{kPlace} * shards >> 32);
}

}  // namespace

// The points of a batch by shard, in their order of arrival. Each thread reuses its own.
struct EngineAppender::SortedBatch {
  std::vector<TimeRange> alive;         // by class: accepted times
  TimestampMs earliest = 0;             // of the accepted points
  std::vector<std::uint32_t> shard_of;  // by point; the number of shards = refused
  std::vector<std::uint32_t> begins;    // by shard, plus the end
  std::vector<SeriesId> series;
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::vector<std::uint8_t> flags;
  std::vector<std::uint32_t> positions;  // in the head
  std::vector<SeriesId> defined;         // by the current record
  Bytes record;
  std::int64_t bytes = 0;        // growth of the head
  std::uint64_t points = 0;      // accepted
  std::uint64_t new_series = 0;  // new in this head

  void sort(const PointBatch& batch, std::uint32_t shards) {
    begins.assign(shards + 2, 0);
    for (const std::uint32_t shard : shard_of) ++begins[shard + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    series.resize(batch.size());
    times.resize(batch.size());
    values.resize(batch.size());
    flags.resize(batch.size());
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::uint32_t to = next[shard_of[i]]++;
      series[to] = batch.series[i];
      times[to] = batch.times[i];
      values[to] = batch.values[i];
      flags[to] = batch.flags[i];
    }
  }
};

EngineAppender::EngineAppender(std::shared_ptr<EngineContext> context,
                               prometheus::Registry& registry)
    : context_(std::move(context)),
      defined_bytes_max_(std::min(kDefinedBytesMax, context_->options.log.record_bytes_max / 2)),
      record_points_max_(
          std::min(kRecordPointsMax, (context_->options.log.record_bytes_max - defined_bytes_max_ -
                                      std::min(kDefinedOverMax, defined_bytes_max_)) /
                                         kPointBytesMax)),
      points_(points_counter(registry, "taken")),
      refused_(points_counter(registry, "refused")) {}

std::vector<Refusal> EngineAppender::admit(const PointBatch& batch, SortedBatch& sorted) const {
  const Retention& retention = *context_->retention;
  const SeriesTable& table = context_->registry.table();
  const TimestampMs now = context_->clock.now_ms();
  // By class, in the order of their shards.
  const std::uint32_t salts = retention.base().salt_buckets();
  sorted.alive.clear();
  for (std::uint32_t shard = 0; shard < retention.shard_count(); shard += salts) {
    sorted.alive.push_back(retention.layout_of(shard).alive(kAllTimes, now));
  }
  const bool one_class = sorted.alive.size() == 1;  // the common case needs no division
  std::vector<Refusal> refused;
  sorted.earliest = kAllTimes.end;
  sorted.shard_of.resize(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (i + kAhead < batch.size()) __builtin_prefetch(&table.at(batch.series[i + kAhead]));
    const std::uint32_t shard = table.at(batch.series[i]).shard;
    const TimeRange& alive = sorted.alive[one_class ? 0 : shard / salts];
    if (batch.times[i] >= alive.begin && batch.times[i] < alive.end) {
      sorted.shard_of[i] = shard;
      sorted.earliest = std::min(sorted.earliest, batch.times[i]);
      continue;
    }
    sorted.shard_of[i] = retention.shard_count();
    refused.push_back(
        {.index = i, .error = retention.layout_of(shard).admit(batch.times[i], now).error()});
  }
  return refused;
}

Sequence EngineAppender::take_shards(Head& head, std::uint32_t shards, Log::Admission admission,
                                     SortedBatch& sorted) {
  Sequence last = 0;
  sorted.bytes = 0;
  sorted.points = 0;
  sorted.new_series = 0;
  const std::uint32_t first = first_shard(shards);
  for (std::uint32_t i = 0; i < shards; ++i) {
    const std::uint32_t shard = (first + i) % shards;
    for (std::size_t begin = sorted.begins[shard]; begin < sorted.begins[shard + 1];) {
      ShardPart part = {
          .begin = begin,
          .count = std::min<std::size_t>(record_points_max_, sorted.begins[shard + 1] - begin)};
      last = take_shard(head, shard, part, admission, sorted);
      begin += part.count;
    }
  }
  head.account(sorted.bytes, sorted.points, sorted.new_series);
  return last;
}

Result<Accepted> EngineAppender::take(const PointBatch& batch) {
  thread_local SortedBatch sorted;
  Accepted accepted;
  accepted.refused = admit(batch, sorted);
  const std::uint32_t shards = context_->retention->shard_count();
  sorted.sort(batch, shards);
  Sequence last = 0;
  if (accepted.refused.size() < batch.size()) {
    const HeadList::Writing writing = context_->head_list.write();
    // From here on the batch is accepted as a whole.
    TRY(const Log::Admission admission, context_->log->admit());
    last = take_shards(writing.head(), shards, admission, sorted);
  }
  const std::size_t taken = batch.size() - accepted.refused.size();
  if (taken > 0) context_->changes.changed_from(sorted.earliest);
  points_.Increment(static_cast<double>(taken));
  if (!accepted.refused.empty()) refused_.Increment(static_cast<double>(accepted.refused.size()));
  accepted.durable = last == 0 ? Completion::done() : context_->log->durable(last);
  return accepted;
}

Sequence EngineAppender::take_shard(Head& head, std::uint32_t shard_index, ShardPart& part,
                                    Log::Admission admission, SortedBatch& sorted) {
  const std::size_t begin = part.begin;
  std::size_t count = part.count;
  const auto series = std::span<const SeriesId>(sorted.series).subspan(begin, count);
  sorted.record.clear();
  sorted.defined.clear();
  sorted.positions.resize(count);
  HeadShard& shard = head.shard(shard_index);

  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) head.prefetch_position(series[i]);

  const std::lock_guard lock(shard.mutex());
  const std::size_t bytes_before = shard.bytes();
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) head.prefetch_position(series[i + kAhead]);
    auto position = head.position_of(series[i]);
    if (!position) {
      // Each head's part of the log must be readable alone. So the log defines an id before the
      // id's first point in each head.
      if (context_->options.log_points) {
        const Series& known = context_->registry.table().at(series[i]);
        const Bytes tsuid = known.tsuid;
        log_records::append_series(sorted.record,
                                   {.id = known.id, .shard = shard_index, .tsuid = tsuid});
      }
      position = shard.add_series(series[i]);
      head.set_position(series[i], *position);
      context_->registry.unmark_candidate(
          series[i]);  // from here on, every query finds the points of the series
      sorted.defined.push_back(series[i]);
    }
    sorted.positions[i] = *position;
    shard.prefetch(*position);
    if (sorted.record.size() >= defined_bytes_max_) part.count = count = i + 1;
  }
  const Sequence sequence =
      context_->options.log_points ? log_points(shard_index, part, admission, sorted) : 0;
  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) shard.prefetch_end(sorted.positions[i]);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) shard.prefetch_end(sorted.positions[i + kAhead]);
    shard.append(sorted.positions[i], {.time = sorted.times[begin + i],
                                       .value = sorted.values[begin + i],
                                       .is_float = (sorted.flags[begin + i] & kFloat) != 0});
  }
  sorted.bytes += static_cast<std::int64_t>(shard.bytes() - bytes_before);
  sorted.points += count;
  sorted.new_series += sorted.defined.size();
  return sequence;
}

Sequence EngineAppender::log_points(std::uint32_t shard, const ShardPart& part,
                                    Log::Admission admission, SortedBatch& sorted) {
  const auto part_of = [&part]<class T>(const std::vector<T>& column) {
    return std::span<const T>(column).subspan(part.begin, part.count);
  };
  log_records::append_points(sorted.record, {.shard = shard,
                                             .series = part_of(sorted.series),
                                             .times = part_of(sorted.times),
                                             .values = part_of(sorted.values),
                                             .flags = part_of(sorted.flags)});
  return context_->log->append(admission, sorted.record);
}

}  // namespace halite::storage::engine
