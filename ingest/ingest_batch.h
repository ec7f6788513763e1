// Parsed points on their way to the store. Some may belong to series without an id yet.
//
// A batch is one telnet batch, one body or one round of self-metrics. Points keep their order of
// arrival, whether or not their series is known. A batch contains the pin of its ids, from the
// first look-up in the series cache until the store has the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/rules/point_rules.h"
#include "ingest/series_cache/series_cache.h"
#include "storage/api/point_store.h"

namespace halite::ingest {

struct PointBits {
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

// A series to intern, and the cache key for its id.
struct UnresolvedSeries {
  SeriesName name;
  KeyGrammar grammar = KeyGrammar::kPutLine;
  std::string metric;
  std::string tags;
  std::uint64_t hash = 0;

  [[nodiscard]] SeriesKey key() const {
    return {.grammar = grammar, .metric = metric, .tags = tags};
  }
};

class IngestBatch {
 public:
  // The pin is older than all ids that are added: the cache's reader takes it too.
  explicit IngestBatch(std::shared_ptr<const storage::SeriesPin> pin) : pin_(std::move(pin)) {}

  [[nodiscard]] const storage::SeriesPin& pin() const { return *pin_; }

  void reserve(std::size_t points);
  // Removes all points.
  void clear() { *this = IngestBatch(std::move(pin_)); }

  // `origin` is the number of the point's line or element. It never decreases.
  void add(storage::SeriesId id, PointBits point, std::uint32_t origin) {
    batch_.add(id, point.time, point.value, point.flags);
    origins_.push_back(origin);
  }

  // A series whose id is not known yet: its index in waiting().
  enum class Waiting : std::uint32_t {};

  [[nodiscard]] std::optional<Waiting> find_waiting(const SeriesKey& key, std::uint64_t hash) const;
  // Call it only if no such key is waiting.
  [[nodiscard]] Waiting add_waiting(const SeriesKey& key, std::uint64_t hash, SeriesName name);
  void add(Waiting series, PointBits point, std::uint32_t origin) {
    unresolved_.push_back(static_cast<std::uint32_t>(batch_.size()));
    add(storage::SeriesId{std::to_underlying(series)}, point, origin);
  }

  [[nodiscard]] std::size_t points() const { return batch_.size(); }
  [[nodiscard]] bool empty() const { return batch_.size() == 0; }
  [[nodiscard]] const std::vector<UnresolvedSeries>& waiting() const { return waiting_; }
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_bytes_; }

  // Moves the names out of waiting().
  [[nodiscard]] std::vector<SeriesName> take_names();

  struct Lost {
    std::uint32_t origin;
    std::size_t series;  // index in waiting()
  };
  // Sets the ids of the waiting series, in order. Without an id (nullopt), the points of the series
  // leave the batch.
  [[nodiscard]] std::vector<Lost> resolve(const std::vector<std::optional<storage::SeriesId>>& ids);

  // All series must have ids.
  [[nodiscard]] storage::PointBatch take_batch();
  [[nodiscard]] std::uint32_t origin(std::size_t index) const { return origins_[index]; }

 private:
  std::shared_ptr<const storage::SeriesPin> pin_;
  storage::PointBatch batch_;              // `series` of a waiting point is an index in waiting_
  std::vector<std::uint32_t> origins_;     // of each point
  std::vector<std::uint32_t> unresolved_;  // indexes of the points of waiting series
  std::vector<UnresolvedSeries> waiting_;
  std::unordered_multimap<std::uint64_t, Waiting> by_hash_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace halite::ingest
