// Every series that this process knows, in memory: dense ids, addresses that hold.
//
//   Threads   any call from any thread. at() takes no lock.
//   Lifetime  a Series stays where it is as long as the table; none is ever removed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/point_store.h"

namespace halite::storage {

class SeriesTable {
 public:
  // series_max: see CellPointStoreOptions.
  explicit SeriesTable(SeriesId series_max);
  ~SeriesTable();

  // The series behind an id that add() or find() has returned.
  [[nodiscard]] const Series& at(SeriesId id) const;

  [[nodiscard]] std::optional<SeriesId> find(BytesView tsuid) const;

  // Takes a series in and gives it its id; one that is there already keeps its own. kTooLarge once
  // the table is full.
  Result<SeriesId> add(std::uint64_t metric_uid, Series series);

  [[nodiscard]] SeriesId size() const { return size_.load(); }
  [[nodiscard]] SeriesId room() const { return series_max_ - size(); }

  struct Renamed {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
    Bytes uid_bytes;        // as in tsuids
    std::string_view name;  // the new one; outlives the table
  };
  // Series with this id show the new name from now on. References that at() gave before hold; they
  // show what was. Costs a copy of every chunk of 4096 series with one that has it, for good.
  void rename(Renamed renamed);

  // A metric's series in the order they came, from the from-th on.
  [[nodiscard]] std::vector<SeriesId> of_metric(std::uint64_t metric_uid, std::size_t from) const;

 private:
  static constexpr std::size_t kShards = 64;
  static constexpr std::size_t kChunkSeries = 4096;

  struct TsuidHash {
    using is_avalanching = void;
    std::size_t operator()(BytesView tsuid) const;
  };
  struct Shard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_map<BytesView, SeriesId, TsuidHash> ids;  // guarded by mutex
  };
  using Chunk = std::array<Series, kChunkSeries>;

  [[nodiscard]] static std::size_t shard_index(BytesView tsuid);
  Result<Series*> next_place(SeriesId& id);

  const SeriesId series_max_;
  std::array<Shard, kShards> shards_;
  std::mutex grow_mutex_;                         // held by whoever appends
  std::vector<std::atomic<Chunk*>> chunks_;       // the vector never grows
  std::vector<std::unique_ptr<Chunk>> outdated_;  // by a rename; guarded by grow_mutex_
  std::vector<Renamed> renamed_;                  // so far; guarded by grow_mutex_
  std::atomic<SeriesId> size_ = 0;

  mutable std::shared_mutex metrics_mutex_;
  boost::unordered_flat_map<std::uint64_t, std::vector<SeriesId>> metrics_;  // by metrics_mutex_
};

[[nodiscard]] Error too_many_series(SeriesId series_max);

}  // namespace halite::storage
