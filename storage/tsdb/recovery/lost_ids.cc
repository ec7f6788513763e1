#include "storage/tsdb/recovery/lost_ids.h"

#include <algorithm>
#include <array>

#include "common/log.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/tsdb/chunk_db/stored_cells.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {
namespace {

using Ids = std::array<std::uint64_t, 3>;  // by kind

constexpr std::array kKinds = {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue};
// UIDs added for unreadable chunks: a part of the UID space, at most this many.
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

// Adds the UIDs of a shard's chunks. False: some cannot be read.
Result<bool> note_shard(const StoredIds& stored, std::uint32_t shard, Ids& greatest) {
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

Task<void> keep_lost_ids(const ReservedIds& kept, StoredIds stored) {
  Ids greatest = {};
  bool all = true;
  for (std::uint32_t shard = 0; shard < stored.shard_count; ++shard) {
    CO_TRY(const bool read, note_shard(stored, shard, greatest));
    all = all && read;
  }
  UidAssigner ids(stored.names, stored.widths);
  for (const NameKind kind : kKinds) {
    CO_TRY(const std::uint64_t reserved, co_await ids.last_reserved(kind));
    std::uint64_t last = std::max(reserved, greatest[index(kind)]);
    if (!all) last += std::min(kUnreadIds, ids.largest(kind) / 256);
    CO_TRY_VOID(co_await ids.raise(kind, last));
    greatest[index(kind)] = last;
  }
  if (!all) log::error("unreadable chunks may hold ids of lost names; many ids are skipped");
  co_return co_await kept.write(greatest);
}

}  // namespace halite::storage::engine
