// A cache of the newest stored point of each series. A series enters it with its first query.
// Points in the head are not in it.
//
// To fill it, call find() first, then read the chunks, then fill() with the version from find(). A
// flush or delete in between makes that fill() void.
//
//   Threads  call from any thread; one lock for each shard. flushed() and invalidate() release it
//            between groups of series; find() and fill() hold it for all series of the call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "common/page_table.h"
#include "storage/api/point_store.h"

namespace halite::storage::engine {

class NewestPoints {
 public:
  // Ids are below series_max.
  NewestPoints(std::uint32_t shards, SeriesId series_max)
      : shards_(shards), pages_(series_max / kPageSeries + 1) {}
  NewestPoints(const NewestPoints&) = delete;
  NewestPoints& operator=(const NewestPoints&) = delete;

  enum class State : std::uint8_t { kUnknown, kNone, kPoint };
  struct NewestPoint {
    TimestampMs time = 0;
    ValueBits value = 0;
    bool is_float = false;
    State state = State::kUnknown;
  };

  // The entries of the series, in their order, and the version for fill().
  struct Found {
    std::vector<NewestPoint> entries;
    std::uint64_t version = 0;
  };
  [[nodiscard]] Found find(std::uint32_t shard, std::span<const SeriesId> series);

  // Stores what the chunks contained at that version.
  void fill(std::uint32_t shard, std::uint64_t version, std::span<const SeriesId> series,
            std::span<const NewestPoint> entries);

  // Call it after a flush, with the newest point of each series, before the head is dropped.
  void flushed(std::uint32_t shard, std::span<const LastPoint> points);

  // Call it when points of these series may have been removed.
  void invalidate(std::uint32_t shard, std::span<const SeriesId> series);

 private:
  static constexpr std::size_t kPageSeries = 1024;
  using Page = std::array<NewestPoint, kPageSeries>;

  [[nodiscard]] NewestPoint* at(SeriesId id) const;  // null: unknown
  [[nodiscard]] NewestPoint& make(SeriesId id) {
    return pages_.make(id / kPageSeries).page[id % kPageSeries];
  }

  struct Shard {
    std::mutex mutex;
    std::uint64_t version = 0;  // guarded by mutex
  };
  std::deque<Shard> shards_;
  PageTable<Page> pages_;  // an entry is accessed only under the lock of its shard
};

}  // namespace halite::storage::engine
