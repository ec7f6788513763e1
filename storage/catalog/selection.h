// A SeriesQuery with its names resolved to ids, and the series that match it.
//
//   Threads   call from any thread.
//   Lifetime  the registry must outlive it. It pins the ids of its series: see pin().
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "common/clock.h"
#include "storage/api/point_store.h"
#include "storage/catalog/filter_series.h"
#include "storage/catalog/series_registry.h"
#include "storage/catalog/tag_key_matcher.h"

namespace halite::storage {

class RowSelection final : public Selection {
 public:
  // Resolves the query's names; errors as PointStore::select().
  static Task<std::shared_ptr<const RowSelection>> resolve(SeriesRegistry& registry,
                                                           const RowLayout& layout,
                                                           SeriesQuery query, ReadContext context,
                                                           TimestampMs now);

  [[nodiscard]] std::uint64_t metric_uid() const { return metric_uid_; }
  [[nodiscard]] TimestampMs now() const { return now_; }  // when the query was received
  [[nodiscard]] bool by_tsuid() const { return !tsuids_.empty(); }
  [[nodiscard]] const std::vector<Bytes>& tsuids() const { return tsuids_; }  // sorted

  [[nodiscard]] bool matches(const Series& series) const;

  [[nodiscard]] bool wants_annotations() const { return wants_annotations_; }
  // The filters, one for each key. `tags_exactly`: the required number of tags.
  [[nodiscard]] std::span<const TagKeyMatcher> matchers() const { return matchers_; }
  [[nodiscard]] std::optional<std::size_t> tags_exactly() const { return tags_exactly_; }

  // Older than every id that the selection finds.
  [[nodiscard]] const std::shared_ptr<const SeriesPin>& pin() const { return pin_; }

  // The query's context, for every read of these series.
  [[nodiscard]] const ReadContext& context() const { return context_; }

  // The matching series among those known at some time. Does not change.
  class Matching {
   public:
    [[nodiscard]] std::span<const SeriesId> of_shard(std::uint32_t shard) const;
    [[nodiscard]] const std::vector<SeriesId>& by_shard() const { return ids_; }
    [[nodiscard]] std::size_t size() const { return ids_.size(); }
    // The number of series of the metric, matching or not.
    [[nodiscard]] std::size_t metric_size() const { return metric_size_; }

   private:
    friend class RowSelection;
    std::vector<SeriesId> ids_;       // ordered by shard, then id
    std::vector<std::size_t> begin_;  // start of each shard in ids_, and the end
    std::size_t metric_size_ = 0;
    std::uint64_t removals_ = 0;  // the table's removals() when they were examined
  };
  using Known = std::shared_ptr<const Matching>;

  // The matching series now. Each series is examined once for each selection; all shards and
  // windows share the result and iterate over it without a lock.
  [[nodiscard]] Known known() const;

  // known(), checking the budget: returns its errors, and kTooLarge for too many series. The series
  // are no longer removal candidates, so they stay in memory while the selection exists.
  [[nodiscard]] Result<void> use() const;

  // Only series with points at this time or later matter.
  [[nodiscard]] TimestampMs since() const { return since_; }

 private:
  RowSelection(SeriesRegistry& registry, std::uint32_t shards)
      : registry_(registry), pin_(registry.table().pin()), shards_(shards) {}
  Task<void> resolve_tsuids(const UidWidths& widths, std::vector<Bytes> tsuids);
  Task<void> resolve_filters(std::vector<TagFilter> filters, std::size_t regexp_bytes_max,
                             bool skip_unknown_values);
  TagKeyMatcher& matcher_for(std::uint64_t key_uid);
  [[nodiscard]] TagsWanted wanted() const { return {matchers_, tags_exactly_}; }

  SeriesRegistry& registry_;
  const std::shared_ptr<const SeriesPin> pin_;
  const std::uint32_t shards_;
  ReadContext context_;
  std::uint64_t metric_uid_ = 0;
  TimestampMs now_ = 0;
  bool wants_annotations_ = false;
  TimestampMs since_ = 0;
  std::vector<Bytes> tsuids_;
  std::vector<TagKeyMatcher> matchers_;
  std::optional<std::size_t> tags_exactly_;

  Result<void> examine(const WorkBudget* budget) const;
  Result<void> examine_new(const WorkBudget* budget) const;
  [[nodiscard]] std::vector<SeriesId> named_members(std::size_t end) const;
  [[nodiscard]] bool is_current(const Known& known) const;
  [[nodiscard]] Known sorted() const;
  [[nodiscard]] Known published() const;

  mutable std::mutex mutex_;            // held while series are examined
  mutable std::size_t examined_ = 0;    // number of the metric's series examined; guarded by mutex_
  mutable std::uint64_t removals_ = 0;  // the table's removals() before that; guarded by mutex_
  // Those that match, in order of examination; guarded by mutex_.
  mutable std::vector<SeriesId> matching_;
  mutable std::mutex known_mutex_;
  mutable Known known_;  // null until series are examined; guarded by known_mutex_
};

}  // namespace halite::storage
