#include "storage/tsdb/chunk_db/slot_reader.h"

#include <algorithm>
#include <utility>

namespace halite::storage::engine {
namespace {

// Up to this many periods are looked up one by one; more are found by skipping through the existing
// slots.
constexpr std::int64_t kPeriodsListed = 8;

void remove_hidden(chunk::FlushedRun& run, const std::vector<Tombstone>& tombstones,
                   TimeRange range) {
  const auto hidden = [&](TimestampMs time) {
    if (time < range.begin || time >= range.end) return true;
    return std::ranges::any_of(tombstones, [&](const Tombstone& tombstone) {
      return tombstone.flush_number > run.flush_number && time >= tombstone.range.begin &&
             time < tombstone.range.end;
    });
  };
  const std::vector<TimestampMs>& times = run.points.times;
  const bool inside = tombstones.empty() && !times.empty() && times.front() >= range.begin &&
                      times.back() < range.end;
  if (inside) return;
  chunk::Points kept;
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    if (hidden(times[i])) continue;
    kept.push_back(times[i], run.points.values[i], run.points.floats[i]);
  }
  run.points = std::move(kept);
}

}  // namespace

SlotReader::SlotReader(std::unique_ptr<ShardView> view, const CyclicLayout& layout,
                       std::uint32_t shard)
    : layout_(layout), shard_(shard), view_(std::move(view)) {}

Result<std::unique_ptr<SlotReader>> SlotReader::open(const ChunkViews& views,
                                                     const CyclicLayout& layout,
                                                     std::uint32_t shard, ReadSource from) {
  return std::unique_ptr<SlotReader>(new SlotReader(views.shard_view(shard, from), layout, shard));
}

Result<std::vector<std::int64_t>> SlotReader::periods(TimeRange range) {
  std::vector<std::int64_t> found;
  if (range.begin >= range.end) return found;
  const std::int64_t span = layout_.options().span_ms;
  const std::int64_t first = std::max<TimestampMs>(range.begin, 0) / span;
  const std::int64_t last = (range.end - 1) / span;
  if (last - first < kPeriodsListed) {
    for (std::int64_t period = first; period <= last; ++period) {
      found.push_back(period);
    }
    return found;
  }
  TRY(const StoredSlots stored, stored_slots(*view_, layout_.widths(), shard_));
  const std::int64_t ring = layout_.ring_slots();
  if (stored.damaged) {
    // Any period may exist; without a ring, none outside the known slots.
    const bool bounded = ring == 0 && !stored.slots.empty();
    const std::int64_t least = bounded ? stored.slots.front().number : first;
    const std::int64_t greatest = bounded ? stored.slots.back().number : last;
    std::int64_t period = std::max(first, least);
    for (; period <= std::min(last, greatest); ++period) found.push_back(period);
    return found;
  }
  for (const StoredSlot& slot : stored.slots) {
    // In a ring, a slot may have any period that touches the range.
    std::int64_t period = layout_.newest_period(slot.number, last);
    for (; period >= first; period -= ring) {
      found.push_back(period);
      if (ring == 0) break;
    }
  }
  std::ranges::sort(found);
  return found;
}

Result<std::vector<StoredSlot>> SlotReader::slots(const YieldFn& yield) {
  TRY(StoredSlots stored, stored_slots(*view_, layout_.widths(), shard_, yield));
  return std::move(stored.slots);
}

template <class Take>
Result<void> SlotReader::visit(Cursor& cursor, std::int64_t period, BytesView series_key,
                               const Take& take) {
  prefix_.clear();
  append_shard_slot(prefix_, {.shard = shard_, .slot = layout_.slot_of(period)});
  prefix_.append(series_key);
  key_ = prefix_;
  const std::size_t wanted = key_.size() + sizeof(std::uint32_t);  // with the period
  append_cell_key(key_, {.period = static_cast<std::uint32_t>(period),
                         .kind = CellKind{},
                         .offset_ms = 0,
                         .flush_number = 0});
  cursor.advance(key_, BytesView(key_).substr(0, wanted));
  for (; cursor.valid(); cursor.next()) {
    const BytesView key = cursor.key();
    if (!key.starts_with(prefix_)) break;
    TRY(const ParsedKey parsed, parse_key(layout_.widths(), key));
    if (parsed.cell.period != period) break;
    const Result<void> taken = take(parsed.cell, cursor.value());
    if (taken) continue;
    view_->note_damage(taken.error());
    return taken;
  }
  return cursor.status();
}

Result<StoredSeries> SlotReader::read(std::int64_t period, BytesView series_key, TimeRange range,
                                      MemoryReservation* reservation) {
  StoredSeries out;
  const TimestampMs slot_begin = period * layout_.options().span_ms;
  TRY_VOID(visit(view_->chunks(), period, series_key, [&](const CellKey& cell, BytesView value) {
    return take_cell(cell, value, slot_begin, range, view_->decoder(), out, reservation);
  }));
  return out;
}

Result<UnsealedRange> SlotReader::unsealed(std::int64_t period, BytesView series_key) {
  const UnsealedRange unsealed =
      view_->unsealed(layout_.slot_of(period), static_cast<std::uint32_t>(period));
  if (!unsealed.late || unsealed.without_summary) return unsealed;
  UnsealedRange of_series;  // its own late cells; they are few and scattered
  const TimestampMs slot_begin = period * layout_.options().span_ms;
  TRY_VOID(visit(view_->late(), period, series_key,
                 [&](const CellKey& cell, BytesView value) -> Result<void> {
                   UnsealedRange covers = {.begin_ms = cell.offset_ms};
                   if (cell.kind == CellKind::kTombstone) {
                     if (value.size() != 4) {
                       return fail(Errc::kCorruption, "a tombstone without an end");
                     }
                     covers.end_ms = load_be<std::uint32_t>(value.data());
                   } else {
                     TRY_VOID(chunk::check_crc(value));
                     TRY(const chunk::Header header, chunk::read_header(value));
                     covers.end_ms = static_cast<std::uint32_t>(header.last_time - slot_begin + 1);
                   }
                   of_series.add(covers);
                   return {};
                 }));
  return of_series;
}

Result<SlotReader::Summary> SlotReader::read_summary(std::int64_t period, BytesView series_key) {
  key_.clear();
  append_shard_slot(key_, {.shard = shard_, .slot = layout_.slot_of(period)});
  key_.append(series_key);
  append_summary_key(key_, static_cast<std::uint32_t>(period));
  Cursor& cursor = view_->summaries();
  cursor.advance(key_, key_);
  Summary summary;
  if (!cursor.valid() || cursor.key() != key_) {
    TRY_VOID(cursor.status());
    return summary;
  }
  if (cursor.value().empty()) {
    summary.must_decode = true;
  } else {
    if (!summaries_) summaries_.emplace();
    TRY(summary.summaries, summaries_->decode(cursor.value()));
  }
  return summary;
}

Result<std::optional<SlotReader::Newest>> SlotReader::newest(std::int64_t period,
                                                             BytesView series_key,
                                                             TimeRange range) {
  const TimestampMs slot_begin = period * layout_.options().span_ms;
  std::optional<Newest> best;
  std::uint64_t best_flush = 0;
  bool must_decode = false;  // a tombstone or a range edge falls inside a chunk
  TRY_VOID(visit(
      view_->chunks(), period, series_key,
      [&](const CellKey& cell, BytesView value) -> Result<void> {
        must_decode |= cell.kind == CellKind::kTombstone;
        if (must_decode || slot_begin + cell.offset_ms >= range.end) return {};
        TRY_VOID(chunk::check_crc(value));
        TRY(const chunk::Header header, chunk::read_header(value));
        if (header.last_time < range.begin) return {};
        must_decode |= header.last_time >= range.end;
        const bool later = !best || header.last_time > best->time ||
                           (header.last_time == best->time && cell.flush_number > best_flush);
        if (must_decode || !later) return {};
        best = Newest{.time = header.last_time, .last = header.last.value_or(chunk::LastValue{})};
        best_flush = cell.flush_number;
        if (header.last) return {};
        chunk::Points points;
        TRY_VOID(view_->decoder().decode(value, points));
        best->last = {points.values.back(), points.floats[points.size() - 1]};
        return {};
      }));
  if (!must_decode) return best;
  TRY(StoredSeries stored, read(period, series_key, range));
  const chunk::Points points = merge_runs(std::move(stored.runs), stored.tombstones, range);
  if (points.empty()) return std::nullopt;
  return Newest{.time = points.times.back(),
                .last = {points.values.back(), points.floats[points.size() - 1]}};
}

Result<SlotReader::Extent> SlotReader::measure(std::int64_t period, BytesView series_key,
                                               TimeRange range) {
  Extent extent;
  const TimestampMs slot_begin = period * layout_.options().span_ms;
  TRY_VOID(visit(view_->chunks(), period, series_key,
                 [&](const CellKey& cell, BytesView value) -> Result<void> {
                   if (cell.kind == CellKind::kTombstone ||
                       slot_begin + cell.offset_ms >= range.end)
                     return {};
                   TRY(const chunk::Header header, chunk::read_header(value));
                   if (header.last_time < range.begin) return {};
                   ++extent.chunks;
                   extent.points += header.count;
                   extent.bytes += value.size();
                   return {};
                 }));
  return extent;
}

Result<void> take_cell(const CellKey& cell, BytesView value, TimestampMs slot_begin,
                       TimeRange range, chunk::Decoder& decoder, StoredSeries& out,
                       MemoryReservation* reservation) {
  const TimestampMs begin = slot_begin + cell.offset_ms;
  if (cell.kind == CellKind::kTombstone) {
    if (value.size() != 4) return fail(Errc::kCorruption, "a tombstone without an end");
    const TimestampMs end = slot_begin + load_be<std::uint32_t>(value.data());
    out.tombstones.push_back({.flush_number = cell.flush_number, .range = {begin, end}});
    return {};
  }
  if (begin >= range.end) {
    ++out.chunks_skipped;
    return {};
  }
  TRY(const chunk::Header header, chunk::read_header(value));
  if (header.last_time < range.begin) {
    ++out.chunks_skipped;
    return {};
  }
  ++out.chunks_decoded;
  chunk::FlushedRun run;
  run.flush_number = cell.flush_number;
  // Reserves memory for all points of the chunk, although only the wanted ones are kept.
  if (reservation != nullptr) TRY_VOID(reservation->add(header.count * kPointBytes));
  TRY_VOID(decoder.decode(value, range, run.points));
  if (reservation != nullptr) {
    reservation->give_back((header.count - run.points.size()) * kPointBytes);
  }
  if (run.points.empty()) return {};
  // Cells of one flush do not overlap: they form one run.
  const auto same = std::ranges::find(out.runs, run.flush_number, &chunk::FlushedRun::flush_number);
  if (same != out.runs.end()) {
    same->points.append(run.points.view());
  } else {
    out.runs.push_back(std::move(run));
  }
  return {};
}

chunk::Points merge_runs(std::vector<chunk::FlushedRun> runs,
                         const std::vector<Tombstone>& tombstones, TimeRange range) {
  for (chunk::FlushedRun& run : runs) remove_hidden(run, tombstones, range);
  std::erase_if(runs, [](const chunk::FlushedRun& run) { return run.points.empty(); });
  if (runs.empty()) return {};
  if (runs.size() == 1) return std::move(runs.front().points);
  return chunk::merge(std::move(runs));
}

}  // namespace halite::storage::engine
