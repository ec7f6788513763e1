#include "storage/tools/check/chunk_checker.h"

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
using engine::ShardSlot;

constexpr std::size_t kTombstoneBytes = 4;
constexpr std::size_t kPeriodBytes = 4;  // of a cell's key, before the kind
constexpr std::size_t kUnknownMax = 10'000;

bool is_of_cells(std::string_view family) {
  return family == engine::kChunksFamily || family == engine::kLateFamily ||
         family == engine::kSummariesFamily;
}

std::unexpected<Error> wrong(std::string what) { return fail(Errc::kCorruption, std::move(what)); }

// shard(1) · slot(4) · series · period(4); cell keys continue.
struct PartitionKey {
  ShardSlot shard_slot;
  std::int64_t period = 0;
};
std::optional<PartitionKey> partition_of(std::string_view family, BytesView key) {
  const std::size_t tail =
      family == engine::kSummariesFamily ? engine::kSummaryKeyBytes : engine::kCellKeyBytes;
  if (key.size() < engine::kShardSlotBytes + tail) return std::nullopt;
  return PartitionKey{.shard_slot = {.shard = load_be<std::uint8_t>(key.data()),
                                     .slot = load_be<std::uint32_t>(key.data() + 1)},
                      .period = load_be<std::uint32_t>(key.data() + key.size() - tail)};
}

// Whether [begin, end] may contain a key of the series in the shard.
bool may_be_between(BytesView begin, BytesView end, std::uint32_t shard, BytesView series) {
  const auto slot_of = [](BytesView key) { return load_be<std::uint32_t>(key.data() + 1); };
  const auto shard_of = [](BytesView key) { return load_be<std::uint8_t>(key.data()); };
  if (shard < shard_of(begin) || shard > shard_of(end)) return false;
  const std::uint32_t first = shard == shard_of(begin) ? slot_of(begin) : 0;
  const std::uint32_t last = shard == shard_of(end) ? slot_of(end) : UINT32_MAX;
  if (last - first > 1 && last > first) return true;
  for (std::uint32_t slot = first; slot <= last; ++slot) {
    Bytes prefix = engine::shard_slot_prefix({.shard = shard, .slot = slot});
    prefix.append(series);
    if (prefix <= end && prefix_end(prefix) > begin) return true;
    if (slot == last) break;
  }
  return false;
}

}  // namespace

void ChunkChecker::cell(const rocks::LiveFile& file, BytesView key, BytesView value) {
  if (!is_of_cells(file.family)) return;
  file_ = file.path;
  const bool known = catalog_.retention() != nullptr;
  const Result<void> checked =
      known ? check_cell(file.family, key, value) : check_nameless(file.family, key, value);
  if (checked) return;
  Finding finding{.file = file.path, .what = checked.error().message};
  const std::size_t tail =
      file.family == engine::kSummariesFamily ? engine::kSummaryKeyBytes : engine::kCellKeyBytes;
  const std::optional<PartitionKey> partition = partition_of(file.family, key);
  if (known && partition && key.size() > engine::kShardSlotBytes + tail) {
    const BytesView series =
        key.substr(engine::kShardSlotBytes, key.size() - engine::kShardSlotBytes - tail);
    const std::int64_t span_ms = catalog_.retention()->base().bucket_span_ms();
    finding.impact = Impact{
        .what = "points",
        .series = {catalog_.text(engine::tsuid_of(catalog_.retention()->base().widths(), series))},
        .series_max = 1,
        .times = TimeRange{.begin = partition->period * span_ms,
                           .end = (partition->period + 1) * span_ms}};
  }
  report_.findings.push_back(std::move(finding));
}

Result<void> ChunkChecker::check_cell(std::string_view family, BytesView key, BytesView value) {
  if (family == engine::kSummariesFamily) return check_summary(key, value);
  TRY(const ParsedKey parsed, engine::parse_key(catalog_.retention()->base().widths(), key));
  if (parsed.shard_slot.shard < catalog_.retention()->shard_count()) {
    const CyclicLayout& layout = catalog_.retention()->layout_of(parsed.shard_slot.shard);
    if (layout.slot_of(parsed.cell.period) != parsed.shard_slot.slot) {
      return wrong(fmt::format("period {} does not belong to slot {}", parsed.cell.period,
                               parsed.shard_slot.slot));
    }
  }
  TRY_VOID(check_series(parsed.series, key.substr(0, key.size() - engine::kCellKeyBytes)));
  if (parsed.cell.kind != CellKind::kTombstone) return check_chunk(parsed, value);
  if (value.size() == kTombstoneBytes) return {};
  return wrong(fmt::format("a tombstone has {} bytes", value.size()));
}

// Checks what does not depend on UID widths and the span.
Result<void> ChunkChecker::check_nameless(std::string_view family, BytesView key, BytesView value) {
  if (family == engine::kSummariesFamily) return {};  // its points are counted in their chunk
  if (key.size() <= engine::kShardSlotBytes + engine::kCellKeyBytes) {
    return wrong("the key of a chunk is damaged: " + to_hex(key));
  }
  const std::size_t cell = key.size() - engine::kCellKeyBytes;
  const BytesView series = key.substr(engine::kShardSlotBytes, cell - engine::kShardSlotBytes);
  if (static_cast<CellKind>(key[cell + kPeriodBytes]) == CellKind::kTombstone) return {};
  points_.clear();
  TRY_VOID(decoder_.decode(value, points_));
  ++report_.chunks;
  report_.points += points_.size();
  nameless_points_ += points_.size();
  nameless_.insert(XXH3_64bits(series.data(), series.size()));
  return {};
}

Result<void> ChunkChecker::check_chunk(const ParsedKey& key, BytesView value) {
  points_.clear();
  TRY_VOID(decoder_.decode(value, points_));
  ++report_.chunks;
  report_.points += points_.size();
  const std::int64_t span_ms = catalog_.retention()->base().bucket_span_ms();
  const TimestampMs begin = key.cell.period * span_ms;
  if (points_.times.front() == begin + key.cell.offset_ms &&
      points_.times.back() < begin + span_ms) {
    return {};
  }
  return wrong(fmt::format("the points of a chunk, {} to {}, do not match its key",
                           points_.times.front(), points_.times.back()));
}

Result<void> ChunkChecker::check_summary(BytesView key, BytesView value) {
  const std::size_t ends = engine::kShardSlotBytes + engine::kSummaryKeyBytes;
  if (key.size() < ends) return wrong("the key of a summary is damaged: " + to_hex(key));
  TRY_VOID(check_series(key.substr(engine::kShardSlotBytes, key.size() - ends),
                        key.substr(0, key.size() - engine::kSummaryKeyBytes)));
  if (value.empty()) return {};
  const Result<const chunk::Summaries*> decoded = summaries_.decode(value);
  return decoded ? Result<void>() : Result<void>(std::unexpected(decoded.error()));
}

// The keys of a series in a slot are consecutive; `prefix` is their common prefix.
Result<void> ChunkChecker::check_series(BytesView series, BytesView prefix) {
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

// An id above the greatest assigned one would be assigned again.
Result<void> ChunkChecker::check_id(NameKind kind, std::uint64_t uid) {
  const std::uint64_t last = catalog_.last_id(kind);
  if (last == 0 || uid <= last) return {};
  return wrong(
      fmt::format("a series has the id {:#x}, but the highest assigned id is {:#x}", uid, last));
}

void ChunkChecker::unreadable(std::size_t finding, const rocks::LiveFile& file,
                              const rocks::TableDamage::Keys& keys) {
  if (!is_of_cells(file.family) || catalog_.retention() == nullptr) return;
  Range range{.finding = finding,
              .begin = keys.after.value_or(file.first_key),
              .end = keys.before.value_or(file.last_key)};
  const std::optional<PartitionKey> first = partition_of(file.family, range.begin);
  const std::optional<PartitionKey> last = partition_of(file.family, range.end);
  if (!first || !last) return;
  const std::int64_t span_ms = catalog_.retention()->base().bucket_span_ms();
  report_.findings[finding].impact =
      Impact{.what = file.family == engine::kSummariesFamily ? "summaries" : "points",
             .series = {},
             .series_max = 0,
             .times = TimeRange{.begin = std::min(first->period, last->period) * span_ms,
                                .end = (std::max(first->period, last->period) + 1) * span_ms}};
  ranges_.push_back(std::move(range));
}

void ChunkChecker::forget_from(std::size_t finding) {
  std::erase_if(ranges_, [finding](const Range& range) { return range.finding >= finding; });
}

void ChunkChecker::add_to(const Range& range, BytesView tsuid, std::uint32_t shard) {
  const Bytes series = engine::series_key(catalog_.retention()->base().widths(), tsuid);
  if (!may_be_between(range.begin, range.end, shard, series)) return;
  Impact& impact = *report_.findings[range.finding].impact;
  if (impact.series.size() < kSeriesNamed) impact.series.push_back(catalog_.text(tsuid));
  ++impact.series_max;
}

Result<void> ChunkChecker::report_impact() {
  if (ranges_.empty()) return {};
  return catalog_.each_series([this](BytesView tsuid) {
    const std::uint32_t shard = catalog_.shard_of(tsuid);
    for (const Range& range : ranges_) add_to(range, tsuid, shard);
  });
}

}  // namespace halite::storage::check
