// One shard of one generation of the head: the points that came for its series since the last
// freeze.
//
//   Threads  calls marked "locked" want mutex() held; frozen for good once freeze() has been called
//            on the head: then reading needs no lock.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "common/clock.h"
#include "storage/head/arena.h"
#include "storage/head/point_stream.h"
#include "storage/point_store.h"

namespace halite::storage {

// A series' points in one generation, as bytes of point_stream.h.
struct alignas(64) HeadSeries {  // a line of the processor's cache, and nothing of its neighbours
  SeriesId id = 0;
  std::uint32_t points = 0;
  std::uint32_t bytes = 0;
  std::uint8_t size_class = 0;
  bool ordered = true;  // each time later than the one before
  bool last_is_float = false;
  std::uint8_t* data = nullptr;
  StreamState state;
  TimestampMs time_min = INT64_MAX;
  TimestampMs time_max = INT64_MIN;
};

// A copy of a HeadSeries that needs no lock any more.
struct HeadPoints {
  SeriesId id = 0;
  bool ordered = true;
  std::uint32_t points = 0;
  std::vector<std::uint8_t> bytes;
};

class HeadShard {
 public:
  [[nodiscard]] std::mutex& mutex() { return mutex_; }

  // Locked. A place for a series that has none; its number counts from 0.
  std::uint32_t add_series(SeriesId id);

  // Locked.
  void append(std::uint32_t place, const StreamPoint& point);

  // Locked. Ask memory for what append() will need: first the series, later the end of its bytes.
  void prefetch(std::uint32_t place) const { __builtin_prefetch(&series_[place], 1); }
  void prefetch_end(std::uint32_t place) const {
    const HeadSeries& series = series_[place];
    __builtin_prefetch(series.data + series.bytes, 1);
  }

  // Locked, unless frozen.
  [[nodiscard]] const HeadSeries& at(std::uint32_t place) const { return series_[place]; }
  [[nodiscard]] std::uint32_t series_count() const {
    return static_cast<std::uint32_t>(series_.size());
  }
  [[nodiscard]] std::size_t bytes() const {
    return arena_.bytes() + series_.size() * sizeof(HeadSeries);
  }

 private:
  void grow(HeadSeries& series);

  std::mutex mutex_;
  std::deque<HeadSeries> series_;  // guarded by mutex_
  Arena arena_;                    // guarded by mutex_
};

}  // namespace halite::storage
