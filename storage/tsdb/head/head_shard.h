// One shard of one generation of the head: the points that came for its series since the last
// freeze.
//
//   Threads  calls marked "locked" want mutex() held. Once the generation is frozen
//            (HeadList::freeze()) nothing changes any more, and reading needs no lock.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "common/clock.h"
#include "storage/api/point_store.h"
#include "storage/tsdb/head/arena.h"
#include "storage/tsdb/head/point_stream.h"

namespace halite::storage {

// A series' points in one generation, as bytes of point_stream.h: the first of them here, more in a
// chain of blocks, each larger than the one before by and by. Nothing moves once it is written, and
// a block is full before there is a next one. A line of the processor's cache.
struct alignas(64) HeadSeries {
  static constexpr std::size_t kOwnBytes = 16;

  TimestampMs first_time = 0;  // of the point that came first; the stream begins from it
  TimestampMs time = 0;        // of the last; these three are the stream's state
  ValueBits value = 0;
  std::int32_t step = 0;
  SeriesId id = 0;
  std::uint32_t points = 0;
  Arena::Extent second = 0;  // the first of the chain
  Arena::Extent tail = 0;    // the last one
  std::uint16_t used = 0;    // bytes of the tail, or of `own` while there is no chain
  std::uint8_t blocks = 0;   // in the chain; stays at the number from which all have one size
  bool ordered : 1 = true;   // each time later than the one before
  bool last_is_float : 1 = false;
  std::array<std::uint8_t, kOwnBytes> own{};

  // Whether a range may have points of it.
  [[nodiscard]] bool touches(TimeRange range) const {
    return points > 0 && (!ordered || (time >= range.begin && first_time < range.end));
  }
};
static_assert(sizeof(HeadSeries) == 64);

// A copy of a HeadSeries that needs no lock any more.
struct HeadPoints {
  SeriesId id = 0;
  bool ordered = true;
  std::uint32_t points = 0;
  TimestampMs first_time = 0;
  std::vector<std::uint8_t> bytes;
};

class HeadShard {
 public:
  [[nodiscard]] std::mutex& mutex() { return mutex_; }

  // Locked. A place for a series that has none; its number counts from 0.
  std::uint32_t add_series(SeriesId id);

  // Locked.
  void append(std::uint32_t position, const StreamPoint& point);

  // Locked. Ask memory for what append() will need: first the series, later the end of its bytes.
  void prefetch(std::uint32_t position) const { __builtin_prefetch(&at(position), 1); }
  void prefetch_end(std::uint32_t position) const {
    const HeadSeries& series = at(position);
    if (series.tail != 0) __builtin_prefetch(blocks_.at(series.tail) + series.used, 1);
  }

  // Locked, unless frozen.
  [[nodiscard]] const HeadSeries& at(std::uint32_t position) const { return series_at(position); }
  // Likewise. What `copy` held before is gone.
  void copy(std::uint32_t position, HeadPoints& copy) const;
  [[nodiscard]] std::uint32_t series_count() const { return series_; }
  [[nodiscard]] std::size_t bytes() const { return blocks_.bytes() + series_ * sizeof(HeadSeries); }

 private:
  static constexpr std::size_t kSlabSeries = Slab::kBytes / sizeof(HeadSeries);

  [[nodiscard]] HeadSeries& series_at(std::uint32_t position) const {
    std::uint8_t* const slab = slabs_[position / kSlabSeries].data();
    return reinterpret_cast<HeadSeries*>(slab)[position % kSlabSeries];
  }
  void grow(HeadSeries& series);
  std::uint8_t* end_of(HeadSeries& series) {
    return (series.tail == 0 ? series.own.data() : blocks_.at(series.tail)) + series.used;
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Slab> slabs_;  // arrays of HeadSeries
  std::uint32_t series_ = 0;
  Arena blocks_;
};

}  // namespace halite::storage
