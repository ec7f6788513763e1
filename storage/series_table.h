// Every series that this process knows, in memory: dense ids, addresses that hold.
//
//   Threads   any call from any thread. at() takes no lock.
//   Lifetime  a Series stays where it is as long as the table; none is ever removed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/index/tag_index.h"
#include "storage/point_store.h"
#include "storage/schema/row_layout.h"

namespace halite::storage {

// What one series with a tag set of its own takes in memory; series that share a tag set take less.
// Names and single tags are kept once for all series and are not counted. With three-byte ids about
// 130 bytes with one tag, 310 with ten, of which all but 66 are the tag set's.
[[nodiscard]] std::size_t series_bytes(std::size_t tags, std::size_t tsuid_bytes);

struct SeriesLimits {
  SeriesId series = 100'000'000;   // storage.series_max
  std::size_t bytes = 8ull << 30;  // storage.series_bytes_max: see series_bytes()
};

// A series that a table may not have yet. Names outlive the table.
struct NewSeries {
  std::uint64_t metric_uid = 0;
  std::string_view metric;
  Bytes tsuid;
  std::uint32_t shard = 0;
  std::vector<SeriesTag> tags;  // in tagk uid order; not needed where knows_tags(tsuid)
};

class SeriesTable {
 public:
  explicit SeriesTable(SeriesLimits limits, UidWidths widths = {});
  ~SeriesTable();
  SeriesTable(const SeriesTable&) = delete;
  SeriesTable& operator=(const SeriesTable&) = delete;

  // The series behind an id that add() or find() has returned.
  [[nodiscard]] const Series& at(SeriesId id) const;

  [[nodiscard]] std::optional<SeriesId> find(BytesView tsuid) const;

  // Whether a series with the same tags, of whatever metric, is here.
  [[nodiscard]] bool knows_tags(BytesView tsuid) const;

  // Takes a series in and gives it its id; one that is there already keeps its own. kTooLarge once
  // the table is full, naming the limit.
  Result<SeriesId> add(const NewSeries& series);

  [[nodiscard]] SeriesId size() const { return size_.load(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(); }
  // kTooLarge when so many more do not fit, naming the limit.
  [[nodiscard]] Result<void> check_room(std::size_t series, std::size_t bytes) const;

  struct Renamed {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
    std::string_view name;  // the new one; outlives the table
  };
  // Series with this id show the new name from now on.
  void rename(const Renamed& renamed);

  [[nodiscard]] const TagIndex& tags() const { return tags_; }

  // A series of a metric. Those of one metric have ascending ids in the order they came.
  struct Member {
    SeriesId id = 0;
    TagSetId tags = 0;
  };
  // A metric's series in the order they came, from the from-th on, at most max. Their tag sets are
  // in every answer of tags() that is asked for afterwards.
  [[nodiscard]] std::vector<Member> of_metric(std::uint64_t metric_uid, std::size_t from,
                                              std::size_t max = SIZE_MAX) const;
  [[nodiscard]] std::size_t count_of_metric(std::uint64_t metric_uid) const;
  // Those of a metric that have these tag sets.
  [[nodiscard]] std::vector<Member> of_metric(std::uint64_t metric_uid,
                                              std::span<const TagSetId> tags) const;

 private:
  static constexpr std::size_t kChunkSeries = 4096;
  using Chunk = std::array<Series, kChunkSeries>;

  struct Metric {
    SharedMetric shared;
    mutable std::shared_mutex mutex;
    boost::unordered_flat_map<TagSetId, SeriesId> ids;  // guarded by mutex
    std::vector<Member> members;                        // guarded by mutex
  };

  [[nodiscard]] const Metric* find_metric(std::uint64_t uid) const;
  Metric& metric_of(const NewSeries& series);
  static std::optional<SeriesId> find_in(const Metric& metric, TagSetId tags);
  Result<SeriesId> append(const Metric& metric, const TagSet& tags, std::uint32_t shard);
  static void show(Metric& metric, std::string_view name, std::deque<std::string_view>& names);

  const SeriesLimits limits_;
  const UidWidths widths_;
  TagIndex tags_;
  std::mutex grow_mutex_;                    // held by whoever appends
  std::vector<std::atomic<Chunk*>> chunks_;  // the vector never grows
  std::atomic<SeriesId> size_ = 0;
  std::atomic<std::size_t> bytes_ = 0;

  mutable std::shared_mutex metrics_mutex_;  // guards all that follows
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Metric>> metrics_;
  boost::unordered_flat_map<std::uint64_t, std::string_view> renamed_;  // metrics, so far
  std::deque<std::string_view> metric_names_;                           // that were ever shown
};

}  // namespace halite::storage
