#include "storage/catalog/names/name_remover.h"

#include <algorithm>
#include <mutex>

#include "storage/catalog/names/name_kind.h"

namespace halite::storage {
namespace {

constexpr std::size_t kUnloadedPerLock = 4096;  // names; lookups wait meanwhile

std::size_t index(NameKind kind) { return static_cast<std::size_t>(kind); }

RowWrite without(Bytes row, Family family, NameKind kind) {
  RowWrite write;
  write.row = std::move(row);
  write.deletes.push_back(Column{family, Bytes(name_kind_text(kind))});
  return write;
}

}  // namespace

NameRemover::NameRemover(std::shared_ptr<Table> table, const UidAssigner& ids, Caches& caches,
                         DeferredNames& deferred)
    : table_(std::move(table)), ids_(ids), caches_(caches), deferred_(deferred) {}

// Checks for candidates before the lookup. If there were none, then names that become candidates
// later wait for the caller's pin, or the removal is complete and the lookup sees it.
template <class By>
const UidTable::NameMapping* NameRemover::find_in_cache(NameKind kind, By by) {
  if (!any_candidates_.load()) return cache(kind).find(by);
  {
    const std::shared_lock lock(mutex_);
    const NameMapping* const entry = cache(kind).find(by);
    if (entry == nullptr || !candidates_[index(kind)].contains(entry->uid)) return entry;
  }
  const std::lock_guard lock(mutex_);
  const NameMapping* const entry = cache(kind).find(by);
  if (entry == nullptr) return nullptr;
  candidates_[index(kind)].erase(entry->uid);
  any_candidates_ = any_candidates_locked();
  return entry;
}

template const UidTable::NameMapping* NameRemover::find_in_cache(NameKind, std::string_view);
template const UidTable::NameMapping* NameRemover::find_in_cache(NameKind, std::uint64_t);

bool NameRemover::any_candidates_locked() const {
  return std::ranges::any_of(candidates_, [](const auto& of_kind) { return !of_kind.empty(); });
}

bool NameRemover::remember(std::span<const Pair> read, std::uint64_t removals) {
  const std::shared_lock lock(mutex_);
  if (removals_ != removals) return false;
  for (const Pair& pair : read) {
    if (leaving_[index(pair.kind)].contains(pair.uid)) continue;
    cache(pair.kind).remember(pair.name, pair.uid);
  }
  return true;
}

std::unique_ptr<Scanner> NameRemover::scan() const {
  ScanSpec spec;
  spec.family = kNameFamily;
  return table_->scan(std::move(spec), {});
}

std::optional<std::uint64_t> NameRemover::uid_of(NameKind kind, BytesView row) const {
  if (row.size() != ids_.width(kind)) return std::nullopt;
  return load_be_width(row);
}

void NameRemover::mark_candidates(NameKind kind, std::span<const std::uint64_t> uids) {
  const std::lock_guard lock(mutex_);
  candidates_[index(kind)].insert(uids.begin(), uids.end());
  any_candidates_ = any_candidates_locked();
}

void NameRemover::unmark_all() {
  const std::lock_guard lock(mutex_);
  for (auto& of_kind : candidates_) of_kind.clear();
  any_candidates_ = false;
}

// The names of ids without other cells.
Task<std::vector<NameRemover::Pair>> NameRemover::read(NameKind kind,
                                                       std::vector<std::uint64_t> uids) {
  std::vector<RowRead> reads;
  reads.reserve(uids.size());
  for (const std::uint64_t uid : uids) {
    reads.push_back(RowRead{ids_.encode(kind, uid), kNameFamily, {}});
  }
  CO_TRY(const std::vector<Row> rows, co_await table_->read(std::move(reads)));
  std::vector<Pair> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Cell* name = nullptr;
    bool kept = false;
    for (const Cell& cell : rows[i].cells) {
      const std::optional<NameCell> what = name_cell(cell.qualifier);
      if (!what || what->kind != kind) continue;
      if (what->says == NameCell::Says::kName) name = &cell;
      kept = kept || what->says == NameCell::Says::kStays;
    }
    if (name == nullptr || kept) continue;
    names.push_back({.kind = kind, .uid = uids[i], .name = name->value});
  }
  co_return names;
}

// Afterwards the cache does not contain these, and remember() does not add them again.
std::vector<NameRemover::Pair> NameRemover::take_out(std::vector<Pair> names, Removed& removed) {
  const std::lock_guard lock(mutex_);
  std::erase_if(names, [this, &removed](const Pair& pair) {
    if (candidates_[index(pair.kind)].erase(pair.uid) == 0) return true;
    leaving_[index(pair.kind)].insert(pair.uid);
    const NameMapping* const entry = cache(pair.kind).remove(pair.name, pair.uid);
    if (entry != nullptr) removed.entries.emplace_back(pair.kind, entry);
    return false;
  });
  removals_.fetch_add(1);
  any_candidates_ = any_candidates_locked();
  return names;
}

// Deletes the id's row last, because it shows that work is left.
Task<void> NameRemover::delete_rows(const std::vector<Pair>& names, TimestampMs now) {
  std::vector<RowRead> reads;
  reads.reserve(names.size());
  for (const Pair& pair : names) {
    reads.push_back(RowRead{pair.name, kIdFamily, {Bytes(name_kind_text(pair.kind))}});
  }
  CO_TRY(const std::vector<Row> rows, co_await table_->read(std::move(reads)));
  std::vector<RowWrite> forward;
  std::vector<RowWrite> reverse;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Pair& pair = names[i];
    Bytes uid = ids_.encode(pair.kind, pair.uid);
    // After an interrupted removal, the name may belong to another id by now.
    const bool ours = !rows[i].cells.empty() && rows[i].cells.front().value == uid;
    if (ours) forward.push_back(without(pair.name, kIdFamily, pair.kind));
    reverse.push_back(without(std::move(uid), kNameFamily, pair.kind));
    // Written together with the deletion, so an id with neither name nor mark was never visible.
    Bytes time;
    append_be<std::uint64_t>(time, static_cast<std::uint64_t>(now));
    reverse.back().puts.push_back(
        CellWrite{Column{kNameFamily, freed_qualifier(pair.kind)}, std::move(time), 0});
  }
  if (!forward.empty()) CO_TRY_VOID(co_await table_->write(std::move(forward)));
  if (!reverse.empty()) CO_TRY_VOID(co_await table_->write(std::move(reverse)));
  co_return Result<void>();
}

Task<void> NameRemover::remove(NameKind kind, std::vector<std::uint64_t> uids, TimestampMs now,
                               Removed& removed) {
  CO_TRY(std::vector<Pair> names, co_await read(kind, std::move(uids)));
  // The names get no new ids before their rows are deleted.
  std::vector<DeferredNames::NameReservation> reserved;
  reserved.reserve(names.size());
  for (const Pair& pair : names) {
    CO_TRY(DeferredNames::NameReservation one, co_await deferred_.reserve_name(kind, pair.name));
    reserved.push_back(std::move(one));
  }
  names = take_out(std::move(names), removed);
  Task<void> deleting = delete_rows(names, now);
  const Result<void> deleted = co_await std::move(deleting);
  {
    const std::lock_guard lock(mutex_);
    for (const Pair& pair : names) {
      leaving_[index(kind)].erase(pair.uid);
      if (deleted) removed.uids[index(kind)].push_back(pair.uid);
    }
    removals_.fetch_add(1);
  }
  co_return deleted;
}

std::vector<std::uint64_t> NameRemover::cached_except(NameKind kind, const IdSet& used) const {
  std::vector<std::uint64_t> uids;
  caches_[index(kind)].each_uid([&](std::uint64_t uid) {
    if (uid <= UINT32_MAX && !used.contains(static_cast<std::uint32_t>(uid))) uids.push_back(uid);
  });
  return uids;
}

void NameRemover::unload(NameKind kind, const IdSet& used, Removed& removed) {
  auto& candidates = candidates_[index(kind)];
  std::vector<std::uint64_t> uids;
  {
    const std::shared_lock lock(mutex_);
    uids.assign(candidates.begin(), candidates.end());
  }
  if (uids.empty()) return;
  deferred_.not_all_cached(kind);
  for (std::size_t begin = 0; begin < uids.size(); begin += kUnloadedPerLock) {
    const std::lock_guard lock(mutex_);
    for (const std::uint64_t uid :
         std::span(uids).subspan(begin, std::min(kUnloadedPerLock, uids.size() - begin))) {
      if (candidates.erase(uid) == 0 || used.contains(static_cast<std::uint32_t>(uid))) continue;
      const NameMapping* const known = cache(kind).find(uid);
      if (known == nullptr) continue;
      const NameMapping* const entry = cache(kind).remove(known->name, uid);
      if (entry != nullptr) removed.entries.emplace_back(kind, entry);
    }
    removals_.fetch_add(1);
    any_candidates_ = any_candidates_locked();
  }
}

std::size_t NameRemover::known() const {
  std::size_t names = 0;
  for (const UidCache& of_kind : caches_) names += of_kind.size();
  return names;
}

Task<void> NameRemover::unmark(NameKind kind, std::vector<std::uint64_t> uids) {
  std::vector<RowWrite> rows;
  rows.reserve(uids.size());
  for (const std::uint64_t uid : uids) {
    RowWrite& row = rows.emplace_back();
    row.row = ids_.encode(kind, uid);
    row.deletes.push_back(Column{kNameFamily, freed_qualifier(kind)});
  }
  co_return co_await table_->write(std::move(rows));
}

void NameRemover::reclaim(const Removed& removed) {
  for (const auto& [kind, entry] : removed.entries) cache(kind).reclaim(entry);
}

}  // namespace halite::storage
