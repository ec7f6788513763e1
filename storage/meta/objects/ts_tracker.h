// Counts points and new names as they arrive, and writes metadata in the background. The path of a
// point costs one addition.
//
//   TsTracker tracker(dependencies, options);
//   tracker.start(executor);       writes every flush_interval_ms
//   tracker.count(ids);            every accepted point, duplicates too; does not wait
//   co_await tracker.stop();       writes the rest
//
//   What     as OpenTSDB's tsd.core.meta.* switches: nothing, a counter of 1 for each series, or
//            real counters; TSMeta and UIDMeta objects for new series and names.
//   Memory   4 bytes for each series, and names_waiting_max names.
//   Lost     counts since the last flush, if the process crashes.
//   Threads  call count() and assigned() from any thread; start() and stop() once.
//   Errors   a failed write is counted and tried again at the next flush.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "common/clock.h"
#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "storage/api/point_store.h"
#include "storage/meta/objects/ts_meta_store.h"
#include "storage/meta/objects/uid_meta.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct TrackOptions {
  bool series = false;          // meta.track_series: a counter for each series that gets points
  bool points = false;          // meta.count_points: with series_objects, counters count
  bool series_objects = false;  // meta.series_objects: a TSMeta object for each tracked series
  bool name_objects = false;    // meta.name_objects: a UIDMeta object for each new name
  std::int64_t flush_interval_ms = 1'000;     // meta.flush_interval_ms
  std::size_t writes_at_once = 64;            // meta.writes_at_once
  std::size_t names_waiting_max = 1'000'000;  // meta.names_waiting_max: further names get no object
  SeriesId series_max = 100'000'000;          // storage.series_max
};

class TsTracker {
 public:
  struct Dependencies {
    TsMetaStore& series;
    UidMetaStore& names;
    const Clock& clock;
    prometheus::Registry& registry;
    std::function<Bytes(SeriesId)> tsuid;
    // Called for a series whose object was just created; may be empty.
    std::function<Task<void>(Bytes tsuid)> created;
  };
  TsTracker(Dependencies dependencies, TrackOptions options);
  ~TsTracker();
  TsTracker(const TsTracker&) = delete;

  void count(std::span<const SeriesId> series);
  void assigned(NameKind kind, std::uint64_t uid);

  // The executor must live until stop() has returned.
  void start(boost::asio::any_io_executor executor);
  // Write no points after it.
  Task<void> stop();

  // Writes what has been counted so far. Not thread-safe.
  Task<void> flush();

 private:
  // Of a series: the points not yet written, and whether its counter and object are known to exist.
  using Counter32 = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t kKnown = 1u << 31;
  static constexpr std::size_t kPageSeries = 4096;
  using Page = std::array<Counter32, kPageSeries>;
  using Strand = boost::asio::strand<boost::asio::any_io_executor>;
  struct Name {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
  };

  [[nodiscard]] Counter32& slot(SeriesId id);
  // true: the series was not waiting before
  bool add(SeriesId id, std::uint32_t points);
  boost::asio::awaitable<void> run();
  Task<void> write_names(std::vector<Name> names);
  Task<void> write_name(Name name);
  Task<void> write_marks(std::vector<SeriesId> ids);
  Task<void> write_counters(std::vector<SeriesId> ids);
  Task<void> write_counter(SeriesId id);
  Task<void> count_or_create(SeriesId id, std::uint32_t points, bool known);
  Task<void> create(const Bytes& tsuid);
  void again(SeriesId id, std::uint32_t points);

  const Dependencies dependencies_;
  const TrackOptions options_;
  prometheus::Counter& failures_;
  prometheus::Counter& names_dropped_;
  std::vector<std::atomic<Page*>> pages_;  // the vector never grows
  std::mutex mutex_;
  std::vector<SeriesId> waiting_;  // series with points to write; guarded by mutex_
  std::vector<Name> names_;        // guarded by mutex_

  std::atomic<bool> stopping_ = false;
  std::optional<Strand> strand_;                    // of run() and the timer
  std::optional<boost::asio::steady_timer> timer_;  // on strand_
  Completion ended_ = Completion::done();           // completes when run() ends
};

}  // namespace halite::storage
