// Recent points in memory, in shards. Points are searchable immediately. A frozen head is flushed
// into chunks, then dropped as a whole.
//
//   Threads   call from any thread; use a shard under its lock (head_shard.h).
//   Lifetime  shared by the engine and by the scans that read it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/page_table.h"
#include "storage/tsdb/chunk/codecs/points.h"
#include "storage/tsdb/head/head_shard.h"

namespace halite::storage {

class Head {
 public:
  // Ids are below series_max, shards below `shards`.
  Head(std::uint64_t number, std::uint32_t shards, SeriesId series_max);
  Head(const Head&) = delete;

  // Heads are numbered in ascending order. Points of the greater number win.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  [[nodiscard]] HeadShard& shard(std::uint32_t index) { return shards_[index]; }
  [[nodiscard]] std::uint32_t shard_count() const {
    return static_cast<std::uint32_t>(shards_.size());
  }

  // The position of the series in its shard, if any. Hold the lock of the shard.
  [[nodiscard]] std::optional<std::uint32_t> position_of(SeriesId id) const {
    const Page* page = pages_.find(id / kPageSeries);
    const std::uint32_t position = page == nullptr ? 0 : (*page)[id % kPageSeries];
    if (position == 0) return std::nullopt;
    return position - 1;
  }
  // Prefetches the memory that position_of() reads.
  void prefetch_position(SeriesId id) const {
    const Page* page = pages_.find(id / kPageSeries);
    if (page != nullptr) __builtin_prefetch(&(*page)[id % kPageSeries]);
  }
  void set_position(SeriesId id, std::uint32_t position);
  // Sets all positions of another head. Not while others use either.
  void copy_positions(const Head& other);

  // Copies the points of the wanted series in the range, in the order of `wanted`; omits series
  // without points. Locks the shard for a few series at a time.
  [[nodiscard]] std::vector<HeadPoints> copy(std::uint32_t shard, std::span<const SeriesId> wanted,
                                             TimeRange range);

  // The newest point in the range of each wanted series, in their order; omits series without
  // points. Locks the shard as copy() does. Returns nothing if it would have to decode more than
  // decode_left points, which happens for series with late points or with points after the range.
  // Subtracts the decoded points from decode_left.
  [[nodiscard]] std::optional<std::vector<LastPoint>> last(std::uint32_t shard,
                                                           std::span<const SeriesId> wanted,
                                                           TimeRange range,
                                                           std::uint64_t& decode_left);

  // Approximate, of all shards. account() maintains them, so that reading takes no lock.
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t points() const { return points_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t series() const { return series_.load(std::memory_order_relaxed); }
  void account(std::int64_t bytes, std::uint64_t points, std::uint64_t series = 0) {
    bytes_.fetch_add(static_cast<std::size_t>(bytes), std::memory_order_relaxed);
    points_.fetch_add(points, std::memory_order_relaxed);
    series_.fetch_add(series, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kPageSeries = 4096;
  using Page = std::array<std::uint32_t, kPageSeries>;  // position + 1; 0 = none

  [[nodiscard]] std::vector<std::uint32_t> positions_of(const HeadShard& shard,
                                                        std::span<const SeriesId> wanted) const;

  const std::uint64_t number_;
  std::vector<HeadShard> shards_;
  PageTable<Page> pages_;  // an entry is accessed only under the lock of its shard
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::uint64_t> points_ = 0;
  std::atomic<std::uint64_t> series_ = 0;
};

// Decodes the points in the range into `out`, which it clears first. The result is in time order
// without duplicate times; the point that came last wins.
void read_points(const HeadPoints& copy, TimeRange range, chunk::Points& out);

}  // namespace halite::storage
