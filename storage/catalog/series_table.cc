// Over 400 lines because all changes of the table share its locks and its count of memory.

#include "storage/catalog/series_table.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "common/check.h"
#include "storage/catalog/index/tag_batch.h"

namespace halite::storage {
namespace {

// The memory of a series besides its tag set: the Series, its entry in the metric's map, which is
// half to 7/8 full, and its entry in the metric's list, which grows by half.
constexpr std::size_t kIdEntry = 14;
constexpr std::size_t kMemberEntry = 12;
constexpr std::size_t kOwnBytes = sizeof(Series) + kIdEntry + kMemberEntry;

// The set, its entries in the map of sets and by id, and its id in each tag's posting list.
std::size_t tag_set_bytes(std::size_t tags, std::size_t bytes) {
  constexpr std::size_t kMapped = 24;
  constexpr std::size_t kPosted = 6;
  return sizeof(TagSet) + kMapped + (tags * (sizeof(SharedTag*) + kPosted)) + bytes;
}

}  // namespace

std::size_t series_bytes(std::size_t tags, std::size_t tsuid_bytes, bool own_tag_set) {
  return kOwnBytes + (own_tag_set ? tag_set_bytes(tags, tsuid_bytes) : 0);
}

std::unexpected<Error> SeriesTable::full() const {
  return fail(Errc::kTooLarge,
              fmt::format("too many series: the limit is {} (storage.series_max)", limits_.series));
}

Result<void> SeriesTable::check_room(std::size_t series, std::size_t bytes) const {
  if (series > limits_.series - size()) return full();
  const std::size_t taken = bytes_;
  if (bytes > limits_.bytes - std::min(taken, limits_.bytes)) {
    return fail(
        Errc::kTooLarge,
        fmt::format("too many series: the memory limit is {} bytes (storage.series_bytes_max)",
                    limits_.bytes));
  }
  return {};
}

// Sets may be made for series that then exceed a limit, so allow a few more sets than series.
SeriesTable::SeriesTable(SeriesLimits limits, UidWidths widths)
    : limits_(limits),
      widths_(widths),
      tags_(std::size_t{limits.series} + kPageSeries),
      pages_((std::size_t{limits.series} + kPageSeries - 1) / kPageSeries) {}

const Series& SeriesTable::at(SeriesId id) const {
  HALITE_CHECK(id < made_, "a series id of another store");
  const SeriesPage* const page = pages_.find(id / kPageSeries);
  return page->at(id);
}

const SeriesTable::Metric* SeriesTable::find_metric(std::uint64_t uid) const {
  const std::shared_lock lock(metrics_mutex_);
  const auto found = metrics_.find(uid);
  return found == metrics_.end() ? nullptr : found->second.get();
}

std::optional<SeriesTable::Member> SeriesTable::find_in(const Metric& metric, TagSetId tags) {
  const std::shared_lock lock(metric.mutex);
  const auto found = metric.positions.find(tags);
  if (found == metric.positions.end()) return std::nullopt;
  return Member{.id = metric.members[found->second].id, .tags = tags, .position = found->second};
}

std::optional<SeriesTable::Member> SeriesTable::member(BytesView tsuid) const {
  if (tsuid.size() < widths_.metric) return std::nullopt;
  const Metric* const metric = find_metric(load_be_width(tsuid.substr(0, widths_.metric)));
  if (metric == nullptr) return std::nullopt;
  const TagSet* const tags = tags_.find(tsuid.substr(widths_.metric));
  return tags == nullptr ? std::nullopt : find_in(*metric, tags->id());
}

std::optional<SeriesId> SeriesTable::find(BytesView tsuid) const {
  const std::optional<Member> found = member(tsuid);
  return found ? std::optional(found->id) : std::nullopt;
}

std::vector<SeriesTable::Known> SeriesTable::use(std::span<const Bytes> tsuids) {
  std::vector<Known> known(tsuids.size());
  const std::shared_lock shape(shape_mutex_);
  for (std::size_t i = 0; i < tsuids.size(); ++i) {
    const BytesView tsuid = tsuids[i];
    if (tsuid.size() < widths_.metric) continue;
    const TagSet* const tags = tags_.find(tsuid.substr(widths_.metric));
    if (tags == nullptr) continue;
    known[i].tags = true;
    const Metric* const metric = find_metric(load_be_width(tsuid.substr(0, widths_.metric)));
    if (metric == nullptr) continue;
    if (const auto found = find_in(*metric, tags->id())) {
      unmark_candidate(found->id);
      known[i].id = found->id;
    }
  }
  return known;
}

const TagSet* SeriesTable::find_tags(BytesView tsuid) const {
  return tsuid.size() < widths_.metric ? nullptr : tags_.find(tsuid.substr(widths_.metric));
}

Result<SeriesId> SeriesTable::add(const NewSeries& series) {
  const std::shared_lock shape(shape_mutex_);
  return add_locked(series);
}

Result<SeriesId> SeriesTable::add_read(const NewSeries& series, std::uint64_t removals) {
  const std::shared_lock shape(shape_mutex_);
  if (removals_ != removals) {
    return fail(Errc::kConflict, "series were removed while this one was read");
  }
  return add_locked(series);
}

TagBatch SeriesTable::tag_batch() { return TagBatch(tags_); }

Result<const TagSet*> SeriesTable::add_tag_set(TagBatch& batch, BytesView tsuid,
                                               std::span<const std::uint32_t> tags) {
  const std::size_t set_bytes = tag_set_bytes(tags.size(), tsuid.size());
  TRY_VOID(check_room(1, kOwnBytes + set_bytes));
  const TagIndex::Added added = batch.add(tsuid.substr(widths_.metric), tags);
  if (added.made) bytes_ += set_bytes;
  return added.set;
}

// Takes the ids and the memory of series to restore.
Result<void> SeriesTable::reserve(std::span<const Restored> series) {
  std::vector<SeriesId> ids;
  ids.reserve(series.size());
  for (const Restored& one : series) ids.push_back(one.id);
  const std::lock_guard grow(grow_mutex_);
  TRY_VOID(check_room(series.size(), series.size() * kOwnBytes));
  SeriesId end = made_;
  for (const SeriesId id : ids) {
    if (id >= limits_.series) return full();
    pages_.make(id / kPageSeries);
    end = std::max(end, id + 1);
  }
  restored_.addMany(ids.size(), ids.data());
  made_ = end;
  bytes_ += series.size() * kOwnBytes;
  size_ += static_cast<SeriesId>(series.size());
  return {};
}

// Most of the work needs no lock, so that several threads restore the series of one metric.
Result<void> SeriesTable::restore(std::span<const RestoredMetric> metrics,
                                  std::span<const Restored> series) {
  const std::shared_lock shape(shape_mutex_);
  TRY_VOID(reserve(series));
  std::vector<Metric*> shared;
  for (const RestoredMetric& metric : metrics) {
    shared.push_back(&metric_of(metric.uid, metric.name));
  }
  std::vector<std::vector<const Restored*>> of_metric(metrics.size());
  for (const Restored& one : series) {
    put(*shared[one.metric], *one.tags, one.shard, one.id);
    of_metric[one.metric].push_back(&one);
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const std::lock_guard lock(shared[i]->mutex);
    for (const Restored* const one : of_metric[i]) {
      if (!show(*shared[i], *one->tags, one->id)) {
        return fail(Errc::kConflict, fmt::format("the series {} is there already", one->id));
      }
    }
  }
  return {};
}

void SeriesTable::end_restore() {
  const std::lock_guard grow(grow_mutex_);
  SeriesId next = 0;
  for (const SeriesId id : restored_) {
    if (id > next) unused_ranges_.push_back({.begin = next, .end = id});
    next = id + 1;
  }
  restored_ = {};
}

// The tags of a series that may be new, in the index.
Result<TagIndex::Added> SeriesTable::add_tags(const NewSeries& series) {
  const BytesView tag_bytes = BytesView(series.tsuid).substr(widths_.metric);
  const std::size_t set_bytes = tag_set_bytes(series.tags.size(), series.tsuid.size());
  const Result<void> room = check_room(1, kOwnBytes + set_bytes);
  if (series.tags.empty() || !room) {
    const TagSet* const known = tags_.find(tag_bytes);
    if (known != nullptr) return TagIndex::Added{.set = known, .made = false};
  }
  if (series.tags.empty() && !tag_bytes.empty()) {
    return fail(Errc::kConflict, "the tags of this series were just removed");
  }
  TRY_VOID(room);
  const TagIndex::Added added = tags_.add(tag_bytes, series.tags);
  if (added.made) bytes_ += set_bytes;
  return added;
}

Result<SeriesId> SeriesTable::add_locked(const NewSeries& series) {
  Metric& metric = metric_of(series.metric_uid, series.metric);
  TRY(const TagIndex::Added added, add_tags(series));
  const TagSet& tags = *added.set;
  if (!added.made) {
    if (const auto known = find_in(metric, tags.id())) {
      unmark_candidate(known->id);
      return known->id;
    }
  }
  const std::lock_guard lock(metric.mutex);
  const auto known = metric.positions.find(tags.id());
  if (known != metric.positions.end()) return metric.members[known->second].id;
  return append(metric, tags, series.shard);
}

SeriesId SeriesTable::free_id() {
  const SeriesId next = made_.load();
  if (kIdsAreChecked && next < limits_.series) return next;
  if (!unused_ranges_.empty()) {
    SeriesIdRange& range = unused_ranges_.back();
    const SeriesId id = range.begin++;
    if (range.begin == range.end) unused_ranges_.pop_back();
    return id;
  }
  if (unused_ids_.empty()) return next;
  // Those that are free the longest come first if ids are checked.
  const auto last = kIdsAreChecked ? unused_ids_.begin() : std::prev(unused_ids_.end());
  const SeriesId id = *last;
  unused_ids_.erase(last);
  return id;
}

Result<SeriesId> SeriesTable::append(Metric& metric, const TagSet& tags, std::uint32_t shard) {
  const std::lock_guard grow(grow_mutex_);
  TRY_VOID(check_room(1, kOwnBytes));
  const SeriesId id = free_id();
  if (id >= limits_.series) return full();
  pages_.make(id / kPageSeries);
  put(metric, tags, shard, id);
  bytes_ += kOwnBytes;
  if (id >= made_) made_.store(id + 1);
  size_.fetch_add(1);
  show(metric, tags, id);
  return id;
}

void SeriesTable::put(Metric& metric, const TagSet& tags, std::uint32_t shard, SeriesId id) {
  Series& series = pages_.find(id / kPageSeries)->give(id);
  series.id = id;
  series.shard = shard;
  series.metric = MetricName(metric.shared);
  series.tags = SeriesTags(tags);
  series.tsuid = Tsuid(metric.shared, tags);
  TagIndex::count_series(tags);
}

bool SeriesTable::show(Metric& metric, const TagSet& tags, SeriesId id) {
  const auto position = static_cast<std::uint32_t>(metric.members.size());
  if (!metric.positions.try_emplace(tags.id(), position).second) return false;
  metric.members.push_back({.id = id, .tags = tags.id()});
  return true;
}

void SeriesTable::mark_candidates(std::span<const SeriesId> series) {
  const std::lock_guard lock(candidates_mutex_);
  candidates_.insert(series.begin(), series.end());
  any_candidates_ = !candidates_.empty();
}

void SeriesTable::unmark_candidates(std::span<const SeriesId> series) {
  if (!any_candidates_.load()) return;
  const std::lock_guard lock(candidates_mutex_);
  for (const SeriesId id : series) candidates_.erase(id);
  if (candidates_.empty()) any_candidates_ = false;
}

void SeriesTable::unmark_if_candidate(SeriesId id) {
  const std::lock_guard lock(candidates_mutex_);
  candidates_.erase(id);
  if (candidates_.empty()) any_candidates_ = false;
}

std::vector<SeriesId> SeriesTable::candidates() const {
  const std::lock_guard lock(candidates_mutex_);
  return {candidates_.begin(), candidates_.end()};
}

std::vector<SeriesId> SeriesTable::remove(std::span<const SeriesId> series, Rows rows,
                                          Removed& removed) {
  std::vector<SeriesId> spared;
  const std::lock_guard shape(shape_mutex_);
  const std::lock_guard lock(candidates_mutex_);
  for (const SeriesId id : series) {
    if (candidates_.erase(id) == 0) {
      spared.push_back(id);
    } else {
      remove_locked(id, removed);
    }
  }
  if (candidates_.empty()) any_candidates_ = false;
  removals_.fetch_add(1);
  if (rows == Rows::kStay) unloads_.fetch_add(1);
  return spared;
}

void SeriesTable::remove_locked(SeriesId id, Removed& removed) {
  const TagSet& tags = at(id).tags.set();
  const std::uint64_t metric_uid = load_be_width(at(id).tsuid.metric());
  const std::lock_guard metrics(metrics_mutex_);
  const auto found = metrics_.find(metric_uid);
  Metric& metric = *found->second;
  bool empty = false;
  {
    const std::lock_guard lock(metric.mutex);
    const auto at_place = metric.positions.find(tags.id());
    const std::uint32_t position = at_place->second;
    metric.positions.erase(at_place);
    if (position + 1 < metric.members.size()) {
      metric.members[position] = metric.members.back();
      metric.positions[metric.members[position].tags] = position;
    }
    metric.members.pop_back();
    empty = metric.members.empty();
  }
  if (empty) {
    removed.metrics.push_back(found->second);
    metrics_.erase(found);
  }
  bytes_ -= kOwnBytes;
  if (TagIndex::uncount_series(tags)) {
    bytes_ -= tag_set_bytes(tags.size(), at(id).tsuid.size());
    tags_.remove(tags, removed.tags);
  }
  size_.fetch_sub(1);
  removed.series.push_back(id);
}

void SeriesTable::reclaim(const Removed& removed) {
  tags_.reclaim(removed.tags);
  const std::lock_guard grow(grow_mutex_);
  if constexpr (kIdsAreChecked) {
    for (const SeriesId id : removed.series) pages_.find(id / kPageSeries)->free(id);
  }
  unused_ids_.insert(unused_ids_.end(), removed.series.begin(), removed.series.end());
}

SeriesTable::Metric& SeriesTable::metric_of(std::uint64_t uid, std::string_view name) {
  {
    const std::shared_lock lock(metrics_mutex_);
    const auto found = metrics_.find(uid);
    if (found != metrics_.end()) return *found->second;
  }
  const std::lock_guard lock(metrics_mutex_);
  std::shared_ptr<Metric>& metric = metrics_[uid];
  if (metric == nullptr) {
    metric = std::make_shared<Metric>();
    append_be_width(metric->shared.uid, uid, widths_.metric);
    const auto renamed = renamed_.find(uid);  // the caller may not know it yet
    metric->first_name = renamed == renamed_.end() ? name : renamed->second;
    metric->shared.name.store(&metric->first_name, std::memory_order_release);
  }
  return *metric;
}

void SeriesTable::rename(const Renamed& renamed) {
  if (renamed.kind != NameKind::kMetric) {
    tags_.rename(renamed.kind, renamed.uid, renamed.name);
    return;
  }
  const std::lock_guard lock(metrics_mutex_);
  renamed_[renamed.uid] = renamed.name;
  const auto found = metrics_.find(renamed.uid);
  if (found == metrics_.end()) return;
  found->second->shared.name.store(&new_names_.emplace_back(renamed.name),
                                   std::memory_order_release);
}

IdSet SeriesTable::ids() const {
  IdSet ids;
  const std::shared_lock lock(metrics_mutex_);
  std::vector<SeriesId> of_metric;
  for (const auto& [uid, metric] : metrics_) {
    of_metric.clear();
    {
      const std::shared_lock members(metric->mutex);
      for (const MetricMember& member : metric->members) of_metric.push_back(member.id);
    }
    ids.addMany(of_metric.size(), of_metric.data());
  }
  return ids;
}

void SeriesTable::add_uids(NameUids& uids) const {
  {
    const std::shared_lock lock(metrics_mutex_);
    for (const auto& [uid, metric] : metrics_) {
      add_uid(uid, uids[static_cast<std::size_t>(NameKind::kMetric)]);
    }
  }
  tags_.add_uids(uids[static_cast<std::size_t>(NameKind::kTagKey)],
                 uids[static_cast<std::size_t>(NameKind::kTagValue)]);
}

std::vector<std::uint64_t> SeriesTable::metric_uids() const {
  const std::shared_lock lock(metrics_mutex_);
  std::vector<std::uint64_t> uids;
  uids.reserve(metrics_.size());
  for (const auto& [uid, metric] : metrics_) uids.push_back(uid);
  return uids;
}

void SeriesTable::release_name(NameKind kind, std::uint64_t uid) {
  if (kind != NameKind::kMetric) {
    tags_.release_name(kind, uid);
    return;
  }
  const std::lock_guard lock(metrics_mutex_);
  renamed_.erase(uid);
}

std::size_t SeriesTable::count_of_metric(std::uint64_t metric_uid) const {
  const Metric* const metric = find_metric(metric_uid);
  if (metric == nullptr) return 0;
  const std::shared_lock lock(metric->mutex);
  return metric->members.size();
}

std::vector<SeriesTable::Member> SeriesTable::of_metric(std::uint64_t metric_uid, std::size_t from,
                                                        std::size_t max) const {
  const Metric* const metric = find_metric(metric_uid);
  if (metric == nullptr) return {};
  const std::shared_lock lock(metric->mutex);
  if (metric->members.size() <= from) return {};
  const std::size_t end = from + std::min(max, metric->members.size() - from);
  std::vector<Member> members;
  members.reserve(end - from);
  for (std::size_t position = from; position < end; ++position) {
    const MetricMember& kept = metric->members[position];
    members.push_back(
        {.id = kept.id, .tags = kept.tags, .position = static_cast<std::uint32_t>(position)});
  }
  return members;
}

std::vector<SeriesTable::Member> SeriesTable::of_metric(std::uint64_t metric_uid,
                                                        std::span<const TagSetId> tags) const {
  const Metric* const metric = find_metric(metric_uid);
  if (metric == nullptr) return {};
  std::vector<Member> found;
  const std::shared_lock lock(metric->mutex);
  for (const TagSetId set : tags) {
    const auto at = metric->positions.find(set);
    if (at == metric->positions.end()) continue;
    found.push_back({.id = metric->members[at->second].id, .tags = set, .position = at->second});
  }
  return found;
}

}  // namespace halite::storage
