// All series that the process has loaded, in memory, with small ids and stable addresses.
//
// A series is removed in steps, so that its id never means another series to a reader. epochs.h has
// the protocol. First it is a removal candidate; any use ends that. When all older pins are
// released, it is removed: no lookup finds it. When all pins older than the removal are released,
// it is reclaimed: its id may be assigned again.
//
//   Threads   call from any thread. at() takes no lock.
//   Lifetime  a Series stays unchanged while a pin() older than its removal exists.
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

#include "common/page_table.h"
#include "storage/api/point_store.h"
#include "storage/catalog/epochs.h"
#include "storage/catalog/index/tag_index.h"
#include "storage/catalog/series_page.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class TagBatch;

// The memory of a series with its own tag set; series that share a tag set take less. Shared names
// and single tags are not counted. With three-byte uids: about 130 bytes with one tag, 310 with
// ten, of which all but 66 are the tag set's.
[[nodiscard]] std::size_t series_bytes(std::size_t tags, std::size_t tsuid_bytes,
                                       bool own_tag_set = true);

struct SeriesLimits {
  SeriesId series = 100'000'000;   // storage.series_max
  std::size_t bytes = 8ull << 30;  // storage.series_bytes_max: see series_bytes()
};

// A series to add. Its names must outlive the table.
struct NewSeries {
  std::uint64_t metric_uid = 0;
  std::string_view metric;
  Bytes tsuid;
  std::uint32_t shard = 0;
  std::vector<SeriesTag> tags;  // in tagk uid order; usually not needed if knows_tags(tsuid)
};

class SeriesTable {
 public:
  explicit SeriesTable(SeriesLimits limits, UidWidths widths = {});
  SeriesTable(const SeriesTable&) = delete;
  SeriesTable& operator=(const SeriesTable&) = delete;

  // Acquire a pin before you obtain ids, and keep it while you use them.
  [[nodiscard]] std::shared_ptr<const SeriesPin> pin() const { return epochs_.pin(); }

  // The series of an id that add() or find() returned. With HALITE_CHECK_SERIES_IDS a stale id
  // stops the process.
  [[nodiscard]] const Series& at(SeriesId id) const;

  [[nodiscard]] std::optional<SeriesId> find(BytesView tsuid) const;
  // Finds series to write points to; they are no longer removal candidates. An empty tsuid is not
  // found.
  struct Known {
    std::optional<SeriesId> id;
    bool tags = false;  // knows_tags()
  };
  [[nodiscard]] std::vector<Known> use(std::span<const Bytes> tsuids);

  // The tags of a series, if the table has a series with them, of any metric.
  [[nodiscard]] const TagSet* find_tags(BytesView tsuid) const;
  [[nodiscard]] bool knows_tags(BytesView tsuid) const { return find_tags(tsuid) != nullptr; }

  // Adds a series and returns its id; an existing one keeps its id. kTooLarge if the table is full,
  // naming the limit; kConflict if `tags` is needed but empty.
  Result<SeriesId> add(const NewSeries& series);
  // add() for a series that was read when removals() had this value: kConflict if removals() has
  // changed, because the series may have been removed.
  Result<SeriesId> add_read(const NewSeries& series, std::uint64_t removals);
  // Series of an earlier process are added in batches, at a start: first their tag sets, then the
  // series. Other series may be added when end_restore() was called.
  [[nodiscard]] TagBatch tag_batch();
  // The tag set of a series of the batch. `tags`: their numbers in the batch.
  Result<const TagSet*> add_tag_set(TagBatch& batch, BytesView tsuid,
                                    std::span<const std::uint32_t> tags);
  struct RestoredMetric {
    std::uint64_t uid = 0;
    std::string_view name;  // must outlive the table
  };
  struct Restored {
    SeriesId id = 0;
    std::uint32_t shard = 0;
    std::uint32_t metric = 0;  // index in the metrics
    const TagSet* tags = nullptr;
  };
  // Adds series under the ids that they had. kConflict if a series is there already; then some may
  // have been added.
  Result<void> restore(std::span<const RestoredMetric> metrics, std::span<const Restored> series);
  // The ids between those of restore() are assigned to new series.
  void end_restore();

  [[nodiscard]] SeriesId size() const { return size_.load(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(); }
  // kTooLarge if so many more do not fit, naming the limit.
  [[nodiscard]] Result<void> check_room(std::size_t series, std::size_t bytes) const;

  // Makes these series removal candidates.
  void mark_candidates(std::span<const SeriesId> series);
  // Call for a series that gets points or is needed. Very cheap while there are no candidates.
  void unmark_candidate(SeriesId id) {
    if (any_candidates_.load()) unmark_if_candidate(id);
  }
  void unmark_candidates(std::span<const SeriesId> series);
  [[nodiscard]] std::vector<SeriesId> candidates() const;
  [[nodiscard]] bool has_candidates() const { return any_candidates_.load(); }

  // Removed series and their shared objects; readers with older pins may still use them.
  struct Removed {
    std::vector<SeriesId> series;
    TagIndex::Removed tags;
    std::vector<std::shared_ptr<void>> metrics;
  };
  // What becomes of the rows of removed series: they are deleted, or stay and may be loaded again.
  enum class Rows : std::uint8_t { kDeleted, kStay };
  // Removes those that are still candidates and returns the others. Afterwards none is a candidate.
  [[nodiscard]] std::vector<SeriesId> remove(std::span<const SeriesId> series, Rows rows,
                                             Removed& removed);
  // Counts removals. When it changes, results derived from members are stale.
  [[nodiscard]] std::uint64_t removals() const { return removals_.load(); }
  // Counts removals of series whose rows stay. When it changes, such a series may have another id.
  [[nodiscard]] std::uint64_t unloads() const { return unloads_.load(); }
  // Call when all pins older than the removal are released.
  void reclaim(const Removed& removed);

  [[nodiscard]] Epochs& epochs() { return epochs_; }

  struct Renamed {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
    std::string_view name;  // the new name; must outlive the table
  };
  // Series with this uid show the new name from now on.
  void rename(const Renamed& renamed);

  // The ids of all series.
  [[nodiscard]] IdSet ids() const;

  // Adds the uids of the names that series in this table have, by kind.
  using NameUids = std::array<IdSet, 3>;
  void add_uids(NameUids& uids) const;
  [[nodiscard]] std::vector<std::uint64_t> metric_uids() const;
  // Call when a name is removed and no series has it: its id may be assigned again.
  void release_name(NameKind kind, std::uint64_t uid);

  [[nodiscard]] const TagIndex& tags() const { return tags_; }

  // A series of a metric, and its position among the metric's series.
  struct Member {
    SeriesId id = 0;
    TagSetId tags = 0;
    std::uint32_t position = 0;
  };
  // The series of a metric from position `from`, at most max. New series come last; positions
  // change only with removals(). Later results of tags() include their tag sets.
  [[nodiscard]] std::vector<Member> of_metric(std::uint64_t metric_uid, std::size_t from,
                                              std::size_t max = SIZE_MAX) const;
  [[nodiscard]] std::size_t count_of_metric(std::uint64_t metric_uid) const;
  // The series of a metric that have these tag sets.
  [[nodiscard]] std::vector<Member> of_metric(std::uint64_t metric_uid,
                                              std::span<const TagSetId> tags) const;
  // The series with this tsuid, as a member of its metric.
  [[nodiscard]] std::optional<Member> member(BytesView tsuid) const;

 private:
  static constexpr std::size_t kPageSeries = SeriesPage::kSlots;

  struct SeriesIdRange {
    SeriesId begin = 0;
    SeriesId end = 0;  // exclusive
  };
  struct MetricMember {
    SeriesId id = 0;
    TagSetId tags = 0;
  };
  struct Metric {
    SharedMetric shared;
    std::string_view first_name;  // the name at its creation
    mutable std::shared_mutex mutex;
    // Index in members; guarded by mutex.
    boost::unordered_flat_map<TagSetId, std::uint32_t> positions;
    std::vector<MetricMember> members;  // guarded by mutex
  };

  [[nodiscard]] const Metric* find_metric(std::uint64_t uid) const;
  Metric& metric_of(std::uint64_t uid, std::string_view name);
  static std::optional<Member> find_in(const Metric& metric, TagSetId tags);
  Result<SeriesId> add_locked(const NewSeries& series);
  [[nodiscard]] Result<TagIndex::Added> add_tags(const NewSeries& series);
  [[nodiscard]] std::unexpected<Error> full() const;  // the limit of series is reached
  [[nodiscard]] SeriesId free_id();                   // needs grow_mutex_
  Result<SeriesId> append(Metric& metric, const TagSet& tags, std::uint32_t shard);
  Result<void> reserve(std::span<const Restored> series);
  // Fills the place of the id.
  void put(Metric& metric, const TagSet& tags, std::uint32_t shard, SeriesId id);
  // Lets lookups find the series. Needs the metric's mutex. False if it is there already.
  static bool show(Metric& metric, const TagSet& tags, SeriesId id);
  void unmark_if_candidate(SeriesId id);
  void remove_locked(SeriesId id, Removed& removed);

  const SeriesLimits limits_;
  const UidWidths widths_;
  TagIndex tags_;
  Epochs epochs_;
  std::shared_mutex shape_mutex_;             // shared to add, exclusive to remove
  std::mutex grow_mutex_;                     // for appending
  PageTable<SeriesPage> pages_;               // grow_mutex_ to make one
  std::atomic<SeriesId> made_ = 0;            // all ids are below
  std::vector<SeriesId> unused_ids_;          // below made_; guarded by grow_mutex_
  IdSet restored_;                            // until end_restore(); guarded by grow_mutex_
  std::vector<SeriesIdRange> unused_ranges_;  // also unused; guarded by grow_mutex_
  std::atomic<SeriesId> size_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::uint64_t> removals_ = 0;  // these two change with shape_mutex_ exclusive
  std::atomic<std::uint64_t> unloads_ = 0;

  std::atomic<bool> any_candidates_ = false;  // changes with candidates_mutex_
  mutable std::mutex candidates_mutex_;
  boost::unordered_flat_set<SeriesId> candidates_;  // guarded by candidates_mutex_

  mutable std::shared_mutex metrics_mutex_;  // guards all members below
  boost::unordered_flat_map<std::uint64_t, std::shared_ptr<Metric>> metrics_;
  boost::unordered_flat_map<std::uint64_t, std::string_view> renamed_;  // new names of metrics
  std::deque<std::string_view> new_names_;                              // the texts of renamed_
};

}  // namespace halite::storage
