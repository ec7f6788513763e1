#include "storage/engine/last_points.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "storage/engine/newest_points.h"
#include "storage/engine/slot_reader.h"

namespace halite::storage::engine {
namespace {

using Entry = NewestPoints::Entry;
using State = NewestPoints::State;

constexpr TimeRange kAlways = {.begin = 0, .end = INT64_MAX};

// Looks for the newest points of one shard's series, for as long as it lives.
class Finder {
 public:
  Finder(Core& core, const RowSelection& selection, TimeRange asked, std::uint32_t shard)
      : core_(core),
        selection_(selection),
        shard_(shard),
        layout_(core.retention->layout_of(shard)),
        range_(layout_.alive(asked, selection.now())) {}

  Result<std::vector<LastPoint>> find() {
    std::vector<LastPoint> found;
    if (range_.begin >= range_.end) return found;
    const RowSelection::Known known = selection_.known();
    const std::span<const SeriesId> wanted = known->of_shard(shard_);
    if (wanted.empty()) return found;
    // The heads first: what leaves them is in the table, or in the chunks, by then.
    heads_ = core_.generations.view();
    NewestPoints::Found stored = core_.newest.find(shard_, wanted);
    TRY_VOID(fill_unknown(wanted, stored));
    found.reserve(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (const auto& watch = selection_.watch(); watch && i % kSeriesPerCheck == 0) {
        TRY_VOID(watch->check());
      }
      TRY(const Entry newest, newest_in_range(wanted[i], stored.entries[i]));
      if (newest.state != State::kPoint) continue;
      found.push_back({.series = wanted[i],
                       .time = newest.time,
                       .value = newest.value,
                       .is_float = newest.is_float});
    }
    return found;
  }

 private:
  static constexpr std::size_t kSeriesPerCheck = 1024;

  // Reads what the table does not know, and tells it.
  Result<void> fill_unknown(std::span<const SeriesId> wanted, NewestPoints::Found& stored) {
    std::vector<SeriesId> series;
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (stored.entries[i].state != State::kUnknown) continue;
      TRY(stored.entries[i], newest_stored(wanted[i], kAlways));
      series.push_back(wanted[i]);
      entries.push_back(stored.entries[i]);
    }
    core_.newest.fill(shard_, stored.version, series, entries);
    return {};
  }

  // The stored one, or one of the heads, which came later.
  Result<Entry> newest_in_range(SeriesId id, Entry newest) {
    if (newest.state == State::kPoint && newest.time >= range_.end) {
      TRY(newest, newest_stored(id, range_));
    }
    if (newest.state == State::kPoint && newest.time < range_.begin)
      newest = {.state = State::kNone};
    const std::span<const SeriesId> one(&id, 1);
    for (const std::shared_ptr<Head>& head : heads_) {
      const std::optional<LastPoint> last = head->last(shard_, id, range_);
      if (!last) continue;
      if (newest.state == State::kPoint && newest.time > last->time) continue;
      newest = {.time = last->time,
                .value = last->value,
                .is_float = last->is_float,
                .state = State::kPoint};
    }
    return newest;
  }

  Result<Entry> newest_stored(SeriesId id, TimeRange range) {
    if (const auto& watch = selection_.watch()) TRY_VOID(watch->check());
    if (reader_ == nullptr) {
      TRY(reader_, SlotReader::open(*core_.chunks, layout_, shard_));
      TRY(generations_, reader_->generations(layout_.alive(kAlways, selection_.now())));
    }
    const TimeRange alive = layout_.alive(range, selection_.now());
    const std::int64_t span = layout_.options().span_ms;
    const Bytes key = series_key(layout_.widths(), core_.registry.table().at(id).tsuid.bytes());
    for (auto generation = generations_.rbegin(); generation != generations_.rend(); ++generation) {
      const TimeRange part = {.begin = std::max(alive.begin, *generation * span),
                              .end = std::min(alive.end, (*generation + 1) * span)};
      if (part.begin >= part.end) continue;
      TRY(const std::optional<SlotReader::Newest> newest, reader_->newest(*generation, key, part));
      if (!newest) continue;
      return Entry{.time = newest->time,
                   .value = newest->last.value,
                   .is_float = newest->last.is_float,
                   .state = State::kPoint};
    }
    return Entry{.state = State::kNone};
  }

  Core& core_;
  const RowSelection& selection_;
  const std::uint32_t shard_;
  const CyclicLayout& layout_;
  const TimeRange range_;
  std::vector<std::shared_ptr<Head>> heads_;
  std::unique_ptr<SlotReader> reader_;  // once something must be read
  std::vector<std::int64_t> generations_;
};

}  // namespace

Result<std::vector<LastPoint>> find_last_points(Core& core, const RowSelection& selection,
                                                TimeRange asked, std::uint32_t shard) {
  return Finder(core, selection, asked, shard).find();
}

}  // namespace halite::storage::engine
