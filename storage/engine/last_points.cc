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
  Finder(Core& core, const RowSelection& selection, TimeRange asked, std::uint32_t shard,
         ReadFrom from)
      : core_(core),
        from_(from),
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
    TRY_VOID(clip(wanted, stored.entries));
    for (const std::shared_ptr<Head>& head : heads_) {
      if (const auto& watch = selection_.watch()) TRY_VOID(watch->check());
      const auto recent = head->last(shard_, wanted, range_, decoded_max());
      if (!recent) return not_in_memory();
      add_recent(wanted, *recent, stored.entries);
    }
    found.reserve(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Entry& newest = stored.entries[i];
      if (newest.state != State::kPoint) continue;
      found.push_back({.series = wanted[i],
                       .time = newest.time,
                       .value = newest.value,
                       .is_float = newest.is_float});
    }
    return found;
  }

 private:
  static constexpr std::uint64_t kQuickPoints = 16 << 10;

  [[nodiscard]] std::uint64_t decoded_max() const {
    return from_ == ReadFrom::kMemory ? kQuickPoints : UINT64_MAX;
  }
  static std::unexpected<Error> not_in_memory() {
    return fail(Errc::kUnavailable, "newest points that are to be looked for");
  }

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

  // The newest stored ones in the range, of the newest ever.
  Result<void> clip(std::span<const SeriesId> wanted, std::vector<Entry>& newest) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Entry& one = newest[i];
      if (one.state == State::kPoint && one.time >= range_.end) {
        TRY(one, newest_stored(wanted[i], range_));
      }
      if (one.state == State::kPoint && one.time < range_.begin) one = {.state = State::kNone};
    }
    return {};
  }

  // Those of a head, which came later. Both in the order of `wanted`.
  static void add_recent(std::span<const SeriesId> wanted, std::span<const LastPoint> recent,
                         std::vector<Entry>& newest) {
    std::size_t i = 0;
    for (const LastPoint& point : recent) {
      while (wanted[i] != point.series) ++i;
      if (newest[i].state == State::kPoint && newest[i].time > point.time) continue;
      newest[i] = {.time = point.time,
                   .value = point.value,
                   .is_float = point.is_float,
                   .state = State::kPoint};
    }
  }

  Result<Entry> newest_stored(SeriesId id, TimeRange range) {
    if (from_ == ReadFrom::kMemory) return not_in_memory();
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
  const ReadFrom from_;
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
                                                TimeRange asked, std::uint32_t shard,
                                                ReadFrom from) {
  return Finder(core, selection, asked, shard, from).find();
}

}  // namespace halite::storage::engine
