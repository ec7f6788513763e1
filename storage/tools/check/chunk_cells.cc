#include "storage/tools/check/chunk_cells.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "storage/cells/layouts/tsuid.h"
#include "storage/tsdb/chunk_db/tables/chunk_families.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::check {
namespace {

using engine::CellKind;
using engine::ParsedKey;
using engine::Place;

constexpr std::size_t kTombstoneBytes = 4;
constexpr std::size_t kGenerationBytes = 4;  // of a cell's key, before the kind
constexpr std::size_t kUnknownMax = 10'000;

bool is_of_cells(std::string_view family) {
  return family == engine::kChunksFamily || family == engine::kLateFamily ||
         family == engine::kSummariesFamily;
}

std::unexpected<Error> wrong(std::string what) { return fail(Errc::kCorruption, std::move(what)); }

// shard(1) · slot(4) · series · generation(4) and, of cells of points, more.
struct Lap {
  Place place;
  std::int64_t generation = 0;
};
std::optional<Lap> lap_of(std::string_view family, BytesView key) {
  const std::size_t tail =
      family == engine::kSummariesFamily ? engine::kSummaryKeyBytes : engine::kCellKeyBytes;
  if (key.size() < engine::kPlaceBytes + tail) return std::nullopt;
  return Lap{.place = {.shard = load_be<std::uint8_t>(key.data()),
                       .slot = load_be<std::uint32_t>(key.data() + 1)},
             .generation = load_be<std::uint32_t>(key.data() + key.size() - tail)};
}

// Whether a key of the series in the shard may lie between the two.
bool may_be_between(BytesView begin, BytesView end, std::uint32_t shard, BytesView series) {
  const auto slot_of = [](BytesView key) { return load_be<std::uint32_t>(key.data() + 1); };
  const auto shard_of = [](BytesView key) { return load_be<std::uint8_t>(key.data()); };
  if (shard < shard_of(begin) || shard > shard_of(end)) return false;
  const std::uint32_t first = shard == shard_of(begin) ? slot_of(begin) : 0;
  const std::uint32_t last = shard == shard_of(end) ? slot_of(end) : UINT32_MAX;
  if (last - first > 1 && last > first) return true;
  for (std::uint32_t slot = first; slot <= last; ++slot) {
    Bytes prefix = engine::place_prefix({.shard = shard, .slot = slot});
    prefix.append(series);
    if (prefix <= end && prefix_end(prefix) > begin) return true;
    if (slot == last) break;
  }
  return false;
}

}  // namespace

void ChunkCells::cell(const rocks::LiveFile& file, BytesView key, BytesView value) {
  if (!is_of_cells(file.family)) return;
  file_ = file.path;
  const bool known = catalog_.retention() != nullptr;
  const Result<void> checked =
      known ? check_cell(file.family, key, value) : check_nameless(file.family, key, value);
  if (checked) return;
  Finding finding{.file = file.path, .what = checked.error().message};
  const std::size_t tail =
      file.family == engine::kSummariesFamily ? engine::kSummaryKeyBytes : engine::kCellKeyBytes;
  const std::optional<Lap> lap = lap_of(file.family, key);
  if (known && lap && key.size() > engine::kPlaceBytes + tail) {
    const BytesView series =
        key.substr(engine::kPlaceBytes, key.size() - engine::kPlaceBytes - tail);
    const std::int64_t span_ms = catalog_.retention()->base().bucket_span_ms();
    finding.hurt = Hurt{
        .what = "points",
        .series = {catalog_.text(engine::tsuid_of(catalog_.retention()->base().widths(), series))},
        .series_max = 1,
        .times =
            TimeRange{.begin = lap->generation * span_ms, .end = (lap->generation + 1) * span_ms}};
  }
  report_.findings.push_back(std::move(finding));
}

Result<void> ChunkCells::check_cell(std::string_view family, BytesView key, BytesView value) {
  if (family == engine::kSummariesFamily) return check_summary(key, value);
  TRY(const ParsedKey parsed, engine::parse_key(catalog_.retention()->base().widths(), key));
  if (parsed.place.shard < catalog_.retention()->shard_count()) {
    const CyclicLayout& layout = catalog_.retention()->layout_of(parsed.place.shard);
    if (layout.slot_of(parsed.cell.generation) != parsed.place.slot) {
      return wrong(fmt::format("generation {} does not belong to slot {}", parsed.cell.generation,
                               parsed.place.slot));
    }
  }
  TRY_VOID(check_series(parsed.series, key.substr(0, key.size() - engine::kCellKeyBytes)));
  if (parsed.cell.kind != CellKind::kTombstone) return check_chunk(parsed, value);
  if (value.size() == kTombstoneBytes) return {};
  return wrong(fmt::format("a tombstone has {} bytes", value.size()));
}

// What does not ask how wide ids are and how long a span is.
Result<void> ChunkCells::check_nameless(std::string_view family, BytesView key, BytesView value) {
  if (family == engine::kSummariesFamily) return {};  // of points that are counted
  if (key.size() <= engine::kPlaceBytes + engine::kCellKeyBytes) {
    return wrong("the key of a chunk is damaged: " + to_hex(key));
  }
  const std::size_t cell = key.size() - engine::kCellKeyBytes;
  const BytesView series = key.substr(engine::kPlaceBytes, cell - engine::kPlaceBytes);
  if (static_cast<CellKind>(key[cell + kGenerationBytes]) == CellKind::kTombstone) return {};
  points_.clear();
  TRY_VOID(decoder_.decode(value, points_));
  ++report_.chunks;
  report_.points += points_.size();
  nameless_points_ += points_.size();
  nameless_.insert(XXH3_64bits(series.data(), series.size()));
  return {};
}

Result<void> ChunkCells::check_chunk(const ParsedKey& key, BytesView value) {
  points_.clear();
  TRY_VOID(decoder_.decode(value, points_));
  ++report_.chunks;
  report_.points += points_.size();
  const std::int64_t span_ms = catalog_.retention()->base().bucket_span_ms();
  const TimestampMs begin = key.cell.generation * span_ms;
  if (points_.times.front() == begin + key.cell.offset_ms &&
      points_.times.back() < begin + span_ms) {
    return {};
  }
  return wrong(fmt::format("the points of a chunk, {} to {}, do not match its key",
                           points_.times.front(), points_.times.back()));
}

Result<void> ChunkCells::check_summary(BytesView key, BytesView value) {
  const std::size_t ends = engine::kPlaceBytes + engine::kSummaryKeyBytes;
  if (key.size() < ends) return wrong("the key of a summary is damaged: " + to_hex(key));
  TRY_VOID(check_series(key.substr(engine::kPlaceBytes, key.size() - ends),
                        key.substr(0, key.size() - engine::kSummaryKeyBytes)));
  if (value.empty()) return {};
  const Result<const chunk::Summaries*> decoded = summaries_.decode(value);
  return decoded ? Result<void>() : Result<void>(std::unexpected(decoded.error()));
}

// Keys of a series in a slot follow each other; `prefix` is what they begin with.
Result<void> ChunkCells::check_series(BytesView series, BytesView prefix) {
  if (prefix == series_) return {};
  series_ = prefix;
  const UidWidths& widths = catalog_.retention()->base().widths();
  if (series.size() <= widths.metric) {
    return wrong("the key of a series is damaged: " + to_hex(series));
  }
  const Bytes tsuid = engine::tsuid_of(widths, series);
  TRY(const SeriesUids uids, parse_tsuid(widths, tsuid));
  if (!catalog_.knows(tsuid) && unknown_.size() < kUnknownMax) {
    unknown_.try_emplace(Bytes(prefix), Unknown{tsuid, file_});
  }
  TRY_VOID(check_id(NameKind::kMetric, uids.metric));
  for (const UidPair& pair : uids.pairs) {
    TRY_VOID(check_id(NameKind::kTagKey, pair.key));
    TRY_VOID(check_id(NameKind::kTagValue, pair.value));
  }
  return {};
}

// What was given out once must not be given out again.
Result<void> ChunkCells::check_id(NameKind kind, std::uint64_t uid) {
  const std::uint64_t last = catalog_.last_id(kind);
  if (last == 0 || uid <= last) return {};
  return wrong(
      fmt::format("a series has the id {:#x}, but the highest assigned id is {:#x}", uid, last));
}

void ChunkCells::unreadable(std::size_t finding, const rocks::LiveFile& file,
                            const rocks::TableDamage::Keys& keys) {
  if (!is_of_cells(file.family) || catalog_.retention() == nullptr) return;
  Range range{.finding = finding,
              .begin = keys.after.value_or(file.first_key),
              .end = keys.before.value_or(file.last_key)};
  const std::optional<Lap> first = lap_of(file.family, range.begin);
  const std::optional<Lap> last = lap_of(file.family, range.end);
  if (!first || !last) return;
  const std::int64_t span_ms = catalog_.retention()->base().bucket_span_ms();
  report_.findings[finding].hurt = Hurt{
      .what = file.family == engine::kSummariesFamily ? "totals of hours" : "points",
      .series = {},
      .series_max = 0,
      .times = TimeRange{.begin = std::min(first->generation, last->generation) * span_ms,
                         .end = (std::max(first->generation, last->generation) + 1) * span_ms}};
  ranges_.push_back(std::move(range));
}

void ChunkCells::forget_from(std::size_t finding) {
  std::erase_if(ranges_, [finding](const Range& range) { return range.finding >= finding; });
}

void ChunkCells::add_to(const Range& range, BytesView tsuid, std::uint32_t shard) {
  const Bytes series = engine::series_key(catalog_.retention()->base().widths(), tsuid);
  if (!may_be_between(range.begin, range.end, shard, series)) return;
  Hurt& hurt = *report_.findings[range.finding].hurt;
  if (hurt.series.size() < kSeriesNamed) hurt.series.push_back(catalog_.text(tsuid));
  ++hurt.series_max;
}

Result<void> ChunkCells::tell_hurt() {
  if (ranges_.empty()) return {};
  return catalog_.each_series([this](BytesView tsuid) {
    const std::uint32_t shard = catalog_.shard_of(tsuid);
    for (const Range& range : ranges_) add_to(range, tsuid, shard);
  });
}

}  // namespace halite::storage::check
