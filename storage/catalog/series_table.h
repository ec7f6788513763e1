// Every series that this process knows, in memory: dense ids, addresses that hold.
//
// A series goes in steps, so that nobody is told of another under its id (docs/decisions/0012): it
// is doomed, and spared by whoever uses it; when all holds from before are gone, it is removed:
// nobody finds it; when all holds from before that are gone, it is reclaimed: its id may be
// another's.
//
//   Threads   any call from any thread. at() takes no lock.
//   Lifetime  a Series stays what it is while anybody has a pin() from before it was removed.
//
// Over 140 lines because each step of a removal states who may still use the series.
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
#include <boost/unordered/unordered_flat_set.hpp>

#include "storage/api/point_store.h"
#include "storage/catalog/index/series_epochs.h"
#include "storage/catalog/index/tag_index.h"
#include "storage/cells/layouts/row_layout.h"

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
  std::vector<SeriesTag> tags;  // in tagk uid order; not needed where knows_tags(tsuid), mostly
};

class SeriesTable {
 public:
  explicit SeriesTable(SeriesLimits limits, UidWidths widths = {});
  ~SeriesTable();
  SeriesTable(const SeriesTable&) = delete;
  SeriesTable& operator=(const SeriesTable&) = delete;

  // To be taken before ids are, and kept as long as they are used.
  [[nodiscard]] std::shared_ptr<const SeriesPin> pin() const { return epochs_.take(); }

  // The series behind an id that add() or find() has returned.
  [[nodiscard]] const Series& at(SeriesId id) const;

  [[nodiscard]] std::optional<SeriesId> find(BytesView tsuid) const;
  // For who will write points under the ids: spares them. An empty tsuid is none's.
  struct Known {
    std::optional<SeriesId> id;
    bool tags = false;  // knows_tags()
  };
  [[nodiscard]] std::vector<Known> use(std::span<const Bytes> tsuids);

  // Whether a series with the same tags, of whatever metric, is here.
  [[nodiscard]] bool knows_tags(BytesView tsuid) const;

  // Takes a series in and gives it its id; one that is there already keeps its own. kTooLarge once
  // the table is full, naming the limit; kConflict where its tags are needed after all.
  Result<SeriesId> add(const NewSeries& series);
  // The same for one that was read somewhere when removals() was so many: kConflict once there were
  // more, for it may have been among them.
  Result<SeriesId> add_read(const NewSeries& series, std::uint64_t removals);

  [[nodiscard]] SeriesId size() const { return size_.load(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(); }
  // kTooLarge when so many more do not fit, naming the limit.
  [[nodiscard]] Result<void> check_room(std::size_t series, std::size_t bytes) const;

  // These will go unless somebody uses them.
  void mark_candidates(std::span<const SeriesId> series);
  // Who got points, or is wanted. Costs next to nothing while none is doomed.
  void unmark_candidate(SeriesId id) {
    if (any_candidates_.load()) unmark_if_candidate(id);
  }
  [[nodiscard]] std::vector<SeriesId> candidates() const;

  // What nobody finds any more.
  struct Removed {
    std::vector<SeriesId> series;
    TagIndex::Removed tags;
    std::vector<std::shared_ptr<void>> metrics;
  };
  // Those that are still doomed, out of the table. The others are returned; none is doomed any
  // more.
  [[nodiscard]] std::vector<SeriesId> remove(std::span<const SeriesId> series, Removed& removed);
  // How often something was removed: then what was made of members has to be made again.
  [[nodiscard]] std::uint64_t removals() const { return removals_.load(); }
  // No hold from before the removal is left.
  void reclaim(const Removed& removed);

  [[nodiscard]] SeriesEpochs& epochs() { return epochs_; }

  struct Renamed {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
    std::string_view name;  // the new one; outlives the table
  };
  // Series with this id show the new name from now on.
  void rename(const Renamed& renamed);

  // The ids of names that series here have, by kind, added.
  using NameUids = std::array<IdSet, 3>;
  void add_uids(NameUids& uids) const;
  // Such a name has gone, and no series has it: its id may get another.
  void release_name(NameKind kind, std::uint64_t uid);

  [[nodiscard]] const TagIndex& tags() const { return tags_; }

  // A series of a metric, and the how manieth it is.
  struct Member {
    SeriesId id = 0;
    TagSetId tags = 0;
    std::uint32_t position = 0;
  };
  // A metric's series, from the from-th on, at most max; new ones come last, and places change only
  // with removals(). Their tag sets are in every answer of tags() that is asked for afterwards.
  [[nodiscard]] std::vector<Member> of_metric(std::uint64_t metric_uid, std::size_t from,
                                              std::size_t max = SIZE_MAX) const;
  [[nodiscard]] std::size_t count_of_metric(std::uint64_t metric_uid) const;
  // Those of a metric that have these tag sets.
  [[nodiscard]] std::vector<Member> of_metric(std::uint64_t metric_uid,
                                              std::span<const TagSetId> tags) const;
  // The one with this tsuid, as a member of its metric.
  [[nodiscard]] std::optional<Member> member(BytesView tsuid) const;

 private:
  static constexpr std::size_t kPageSeries = 4096;
  using Page = std::array<Series, kPageSeries>;

  struct MetricMember {
    SeriesId id = 0;
    TagSetId tags = 0;
  };
  struct Metric {
    SharedMetric shared;
    std::string_view first_name;  // as it was made
    mutable std::shared_mutex mutex;
    boost::unordered_flat_map<TagSetId, std::uint32_t> positions;  // in members; guarded by mutex
    std::vector<MetricMember> members;                             // guarded by mutex
  };

  [[nodiscard]] const Metric* find_metric(std::uint64_t uid) const;
  Metric& metric_of(const NewSeries& series);
  static std::optional<Member> find_in(const Metric& metric, TagSetId tags);
  Result<SeriesId> add_locked(const NewSeries& series);
  Result<SeriesId> append(const Metric& metric, const TagSet& tags, std::uint32_t shard);
  void unmark_if_candidate(SeriesId id);
  void remove_locked(SeriesId id, Removed& removed);

  const SeriesLimits limits_;
  const UidWidths widths_;
  TagIndex tags_;
  SeriesEpochs epochs_;
  std::shared_mutex shape_mutex_;          // shared by who adds, alone for who removes
  std::mutex grow_mutex_;                  // held by whoever appends
  std::vector<std::atomic<Page*>> pages_;  // the vector never grows
  std::atomic<SeriesId> made_ = 0;         // ids are below
  std::vector<SeriesId> unused_ids_;       // below made_; guarded by grow_mutex_
  std::atomic<SeriesId> size_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::uint64_t> removals_ = 0;  // changes with shape_mutex_ held alone

  std::atomic<bool> any_candidates_ = false;  // changes with candidates_mutex_
  mutable std::mutex candidates_mutex_;
  boost::unordered_flat_set<SeriesId> candidates_;  // guarded by candidates_mutex_

  mutable std::shared_mutex metrics_mutex_;  // guards all that follows
  boost::unordered_flat_map<std::uint64_t, std::shared_ptr<Metric>> metrics_;
  boost::unordered_flat_map<std::uint64_t, std::string_view> renamed_;  // metrics, so far
  std::deque<std::string_view> new_names_;                              // that they got
};

}  // namespace halite::storage
