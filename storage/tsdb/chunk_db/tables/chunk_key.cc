#include "storage/tsdb/chunk_db/tables/chunk_key.h"

#include <algorithm>
#include <array>

#include "storage/cells/layouts/tsuid.h"

namespace halite::storage::engine {
namespace {

std::size_t pair_bytes(const UidWidths& widths) {
  return std::size_t{widths.tag_key} + widths.tag_value;
}

}  // namespace

Bytes shard_slot_prefix(ShardSlot shard_slot) {
  Bytes key;
  append_shard_slot(key, shard_slot);
  return key;
}

void append_shard_slot(Bytes& to, ShardSlot shard_slot) {
  append_be(to, static_cast<std::uint8_t>(shard_slot.shard));
  append_be(to, shard_slot.slot);
}

Bytes metric_prefix(ShardSlot shard_slot, BytesView metric_uid) {
  Bytes key = shard_slot_prefix(shard_slot);
  key.append(metric_uid);
  return key;
}

Bytes series_key(const UidWidths& widths, BytesView tsuid) {
  const std::size_t pairs = (tsuid.size() - widths.metric) / pair_bytes(widths);
  Bytes key(tsuid.substr(0, widths.metric));
  append_be(key, static_cast<std::uint8_t>(pairs));
  key.append(tsuid.substr(widths.metric));
  return key;
}

void append_series_key(Bytes& to, const Series& series) {
  to.append(series.tsuid.metric());
  append_be(to, static_cast<std::uint8_t>(series.tags.size()));
  to.append(series.tsuid.tags());
}

namespace {

// Eight bytes of the key, from `at` bytes after the metric on, with zeros behind its end.
std::uint64_t key_word(const Series& series, std::size_t at) {
  std::array<char, sizeof(std::uint64_t)> word = {};
  const BytesView tags = series.tsuid.tags();
  if (at == 0) {
    word[0] = static_cast<char>(series.tags.size());
    tags.copy(&word[1], word.size() - 1);
  } else {
    tags.copy(word.data(), word.size(), at - 1);
  }
  return load_be<std::uint64_t>(word.data());
}

// Their keys are equal up to a place. One word after the other, since most keys begin alike.
void sort_from(std::span<SeriesPlace> series, std::size_t at) {
  for (SeriesPlace& one : series) one.word = key_word(*one.series, at);
  std::ranges::sort(series, {}, &SeriesPlace::word);
  const std::size_t next = at + sizeof(SeriesPlace::word);
  for (auto begin = series.begin(); begin != series.end();) {
    const auto end = std::find_if(
        begin, series.end(), [begin](const SeriesPlace& one) { return one.word != begin->word; });
    // Equal first words have equally many tags, and thus equally many bytes.
    if (end - begin > 1 && next <= begin->series->tsuid.tags().size()) {
      sort_from({begin, end}, next);
    }
    begin = end;
  }
}

}  // namespace

void sort_by_key(std::span<SeriesPlace> series) {
  for (const SeriesPlace& one : series) __builtin_prefetch(&one.series->tags.set());
  sort_from(series, 0);
}

Bytes tsuid_of(const UidWidths& widths, BytesView series_key) {
  Bytes tsuid(series_key.substr(0, widths.metric));
  tsuid.append(series_key.substr(widths.metric + 1U));
  return tsuid;
}

Bytes series_prefix(ShardSlot shard_slot, const UidWidths& widths, BytesView tsuid) {
  return shard_slot_prefix(shard_slot) + series_key(widths, tsuid);
}

void append_cell_key(Bytes& prefix, const CellKey& key) {
  append_be(prefix, key.period);
  append_be(prefix, static_cast<std::uint8_t>(key.kind));
  append_be(prefix, key.offset_ms);
  append_be(prefix, key.flush_number);
}

void append_summary_key(Bytes& prefix, std::uint32_t period) { append_be(prefix, period); }

Result<ParsedKey> parse_key(const UidWidths& widths, BytesView key) {
  const auto damaged = [key] {
    return fail(Errc::kCorruption, "the key of a chunk is damaged: " + to_hex(key));
  };
  const std::size_t fixed = kShardSlotBytes + widths.metric + 1U + kCellKeyBytes;
  if (key.size() < fixed) return damaged();
  const std::size_t pairs = load_be<std::uint8_t>(key.data() + kShardSlotBytes + widths.metric);
  const std::size_t series_bytes = widths.metric + 1U + pairs * pair_bytes(widths);
  if (key.size() != kShardSlotBytes + series_bytes + kCellKeyBytes) return damaged();
  ParsedKey parsed;
  parsed.shard_slot.shard = load_be<std::uint8_t>(key.data());
  parsed.shard_slot.slot = load_be<std::uint32_t>(key.data() + 1);
  parsed.series = key.substr(kShardSlotBytes, series_bytes);
  const char* cell = key.data() + kShardSlotBytes + series_bytes;
  parsed.cell.period = load_be<std::uint32_t>(cell);
  const auto kind = load_be<std::uint8_t>(cell + 4);
  if (kind < 1 || kind > 3) return damaged();
  parsed.cell.kind = static_cast<CellKind>(kind);
  parsed.cell.offset_ms = load_be<std::uint32_t>(cell + 5);
  parsed.cell.flush_number = load_be<std::uint64_t>(cell + 9);
  return parsed;
}

}  // namespace halite::storage::engine
