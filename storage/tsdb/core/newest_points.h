// The newest stored point of every series that was asked for once, so that asking again reads
// nothing. What the head has is not in it.
//
// Who fills it notes the version before looking at the chunks: what was flushed or deleted since
// then makes the filling void.
//
//   Threads  any call from any thread; a lock a shard. flushed() and invalidate() hold it for some
//            series at a time; who calls find() or fill() decides for how many.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "storage/api/point_store.h"

namespace halite::storage::engine {

class NewestPoints {
 public:
  // Ids are below series_max.
  NewestPoints(std::uint32_t shards, SeriesId series_max)
      : shards_(shards), pages_(series_max / kPageSeries + 1) {}
  ~NewestPoints();
  NewestPoints(const NewestPoints&) = delete;
  NewestPoints& operator=(const NewestPoints&) = delete;

  enum class State : std::uint8_t { kUnknown, kNone, kPoint };
  struct NewestPoint {
    TimestampMs time = 0;
    ValueBits value = 0;
    bool is_float = false;
    State state = State::kUnknown;
  };

  // Of series of a shard, in their order; and the version that fill() wants.
  struct Found {
    std::vector<NewestPoint> entries;
    std::uint64_t version = 0;
  };
  [[nodiscard]] Found find(std::uint32_t shard, std::span<const SeriesId> series);

  // What the chunks had at that version.
  void fill(std::uint32_t shard, std::uint64_t version, std::span<const SeriesId> series,
            std::span<const NewestPoint> entries);

  // These went into the chunks of a shard, the newest of each series. Before the head that had them
  // is gone.
  void flushed(std::uint32_t shard, std::span<const LastPoint> points);

  // Points of these may be gone.
  void invalidate(std::uint32_t shard, std::span<const SeriesId> series);

 private:
  static constexpr std::size_t kPageSeries = 1024;
  using Page = std::array<NewestPoint, kPageSeries>;

  [[nodiscard]] NewestPoint* at(SeriesId id) const;  // null: unknown
  [[nodiscard]] NewestPoint& make(SeriesId id);

  struct Shard {
    std::mutex mutex;
    std::uint64_t version = 0;  // guarded by mutex
  };
  std::deque<Shard> shards_;
  // An entry is touched only under its series' shard's lock, a page is made by whoever needs it
  // first.
  std::vector<std::atomic<Page*>> pages_;
};

}  // namespace halite::storage::engine
