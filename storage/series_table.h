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

// What one series takes in memory: here, and in what else the store keeps a series (its place in
// the index by tsuid and by metric, its last point). Names are kept once for all series and are not
// counted. With three-byte ids about 220 bytes with one tag, 740 with ten.
[[nodiscard]] std::size_t series_bytes(std::size_t tags, std::size_t tsuid_bytes);

struct SeriesLimits {
  SeriesId series = 100'000'000;   // storage.series_max
  std::size_t bytes = 8ull << 30;  // storage.series_bytes_max: see series_bytes()
};

class SeriesTable {
 public:
  explicit SeriesTable(SeriesLimits limits);
  ~SeriesTable();

  // The series behind an id that add() or find() has returned.
  [[nodiscard]] const Series& at(SeriesId id) const;

  [[nodiscard]] std::optional<SeriesId> find(BytesView tsuid) const;

  // Takes a series in and gives it its id; one that is there already keeps its own. kTooLarge once
  // the table is full, naming the limit.
  Result<SeriesId> add(std::uint64_t metric_uid, Series series);

  [[nodiscard]] SeriesId size() const { return size_.load(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(); }
  // kTooLarge when so many more do not fit, naming the limit.
  [[nodiscard]] Result<void> check_room(std::size_t series, std::size_t bytes) const;

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
  [[nodiscard]] std::size_t count_of_metric(std::uint64_t metric_uid) const;

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
  Series* next_place(SeriesId& id);

  const SeriesLimits limits_;
  std::array<Shard, kShards> shards_;
  std::mutex grow_mutex_;                         // held by whoever appends
  std::vector<std::atomic<Chunk*>> chunks_;       // the vector never grows
  std::vector<std::unique_ptr<Chunk>> outdated_;  // by a rename; guarded by grow_mutex_
  std::vector<Renamed> renamed_;                  // so far; guarded by grow_mutex_
  std::atomic<SeriesId> size_ = 0;
  std::atomic<std::size_t> bytes_ = 0;

  mutable std::shared_mutex metrics_mutex_;
  boost::unordered_flat_map<std::uint64_t, std::vector<SeriesId>> metrics_;  // by metrics_mutex_
};

}  // namespace halite::storage
