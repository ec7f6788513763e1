#include "storage/tsdb/core/kept_ids.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/tsdb/chunk_db/stored_cells.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"
#include "storage/tsdb/core/engine_cell.h"

namespace halite::storage::engine {
namespace {

using Ids = std::array<std::uint64_t, 3>;  // by kind

constexpr BytesView kQualifier = "kept ids";
constexpr BytesView kUnmarkedQualifier = "unmarked ids since";
constexpr std::array kKinds = {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue};
// For those in chunks that cannot be read: a part of what there is room for, or so many.
constexpr std::uint64_t kUnreadIds = 1 << 20;

std::size_t index(NameKind kind) { return static_cast<std::size_t>(kind); }

void raise(Ids& ids, NameKind kind, std::uint64_t uid) {
  ids[index(kind)] = std::max(ids[index(kind)], uid);
}

Result<void> note_series(const UidWidths& widths, BytesView tsuid, Ids& greatest) {
  TRY(const SeriesUids uids, parse_tsuid(widths, tsuid));
  raise(greatest, NameKind::kMetric, uids.metric);
  for (const UidPair& pair : uids.pairs) {
    raise(greatest, NameKind::kTagKey, pair.key);
    raise(greatest, NameKind::kTagValue, pair.value);
  }
  return {};
}

// Adds those of a shard's chunks. False: some cannot be read.
Result<bool> note_shard(const KeptIds::Stored& stored, std::uint32_t shard, Ids& greatest) {
  TRY(StoredCells cells, StoredCells::open(stored.chunks, stored.widths, shard));
  bool all = !cells.damaged();
  for (const std::uint32_t slot : cells.slots()) {
    TRY(const bool read, cells.each_series(slot, [&](BytesView series) {
      return note_series(stored.widths, tsuid_of(stored.widths, series), greatest);
    }));
    all = all && read;
  }
  return all;
}

}  // namespace

Task<Ids> KeptIds::read() const {
  CO_TRY(const std::optional<Bytes> cell, co_await read_engine_cell(settings_, Bytes(kQualifier)));
  Ids ids = {};
  if (!cell) co_return ids;
  if (cell->size() != ids.size() * sizeof(std::uint64_t)) {
    co_return fail(Errc::kCorruption, "the settings table holds invalid kept ids");
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = load_be<std::uint64_t>(cell->data() + i * sizeof(std::uint64_t));
  }
  co_return ids;
}

Task<std::optional<TimestampMs>> KeptIds::unmarked_since() const {
  CO_TRY(const std::optional<Bytes> cell,
         co_await read_engine_cell(settings_, Bytes(kUnmarkedQualifier)));
  if (!cell) co_return std::optional<TimestampMs>();
  if (cell->size() != sizeof(std::uint64_t)) {
    co_return fail(Errc::kCorruption,
                   fmt::format("the settings table holds \"{}\" with {} bytes, expected {}",
                               kUnmarkedQualifier, cell->size(), sizeof(std::uint64_t)));
  }
  co_return static_cast<TimestampMs>(load_be<std::uint64_t>(cell->data()));
}

Task<void> KeptIds::set_unmarked_since(TimestampMs time) const {
  Bytes bytes;
  append_be<std::uint64_t>(bytes, static_cast<std::uint64_t>(time));
  co_return co_await write_engine_cell(settings_, Bytes(kUnmarkedQualifier), std::move(bytes));
}

Task<void> KeptIds::keep(Stored stored) {
  Ids greatest = {};
  bool all = true;
  for (std::uint32_t shard = 0; shard < stored.shard_count; ++shard) {
    CO_TRY(const bool read, note_shard(stored, shard, greatest));
    all = all && read;
  }
  UidAssigner ids(stored.names, stored.widths);
  Bytes kept;
  for (const NameKind kind : kKinds) {
    CO_TRY(const std::uint64_t reserved, co_await ids.last_reserved(kind));
    std::uint64_t last = std::max(reserved, greatest[index(kind)]);
    if (!all) last += std::min(kUnreadIds, ids.largest(kind) / 256);
    CO_TRY_VOID(co_await ids.raise(kind, last));
    append_be(kept, last);
  }
  if (!all) log::error("unreadable chunks may hold ids of lost names; many ids are skipped");
  co_return co_await write_engine_cell(settings_, Bytes(kQualifier), std::move(kept));
}

}  // namespace halite::storage::engine
