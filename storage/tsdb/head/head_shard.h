// One shard of a head: the points of its series since the last freeze.
//
//   Threads  hold mutex() for calls marked "locked". A frozen head (HeadList::freeze()) does not
//            change, and reading it needs no lock.
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

// The points of one series in one head, as bytes of point_stream.h. The first bytes are stored
// here, the rest in a chain of growing blocks. Written bytes never move, and a block is filled
// before the next is added. The size is one cache line.
struct alignas(64) HeadSeries {
  static constexpr std::size_t kOwnBytes = 16;

  TimestampMs first_time = 0;  // of the point that came first; the stream starts from it
  TimestampMs time = 0;        // of the last point; these three are the state of the stream
  ValueBits value = 0;
  std::int32_t step = 0;
  SeriesId id = 0;
  std::uint32_t points = 0;
  Arena::Extent second = 0;  // first block of the chain
  Arena::Extent tail = 0;    // last block
  std::uint16_t used = 0;    // bytes of the tail, or of `own` without a chain
  std::uint8_t blocks = 0;   // in the chain; stays at the number where sizes stop growing
  bool ordered : 1 = true;   // each time is later than the one before
  bool last_is_float : 1 = false;
  std::array<std::uint8_t, kOwnBytes> own{};

  // Whether the range may contain points of the series.
  [[nodiscard]] bool touches(TimeRange range) const {
    return points > 0 && (!ordered || (time >= range.begin && first_time < range.end));
  }
};
static_assert(sizeof(HeadSeries) == 64);

// A copy of a HeadSeries, usable without a lock.
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

  // Locked. Adds a series that has no position yet; positions count from 0.
  std::uint32_t add_series(SeriesId id);

  // Locked.
  void append(std::uint32_t position, const StreamPoint& point);

  // Locked. Prefetch what append() needs: first the series, later the end of its bytes.
  void prefetch(std::uint32_t position) const { __builtin_prefetch(&at(position), 1); }
  void prefetch_end(std::uint32_t position) const {
    const HeadSeries& series = at(position);
    if (series.tail != 0) __builtin_prefetch(blocks_.at(series.tail) + series.used, 1);
  }

  // Locked, unless frozen.
  [[nodiscard]] const HeadSeries& at(std::uint32_t position) const { return series_at(position); }
  // Locked, unless frozen. Replaces the content of `copy`.
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
