#include "storage/catalog/names/deferred_names.h"

#include <algorithm>
#include <tuple>

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>
#include <xxhash.h>

#include "common/bytes/bytes.h"
#include "storage/catalog/names/name_kind.h"

namespace halite::storage {
namespace {

// Each block is twice the previous one: few names lose few ids in a crash, and many names cost few
// increments.
constexpr std::uint64_t kBlockMin = 16;
constexpr std::uint64_t kBlockMax = 8192;

constexpr std::uint64_t kScanGap = 64;          // ids between two that one scan passes over
constexpr std::size_t kWriteNames = 16 * 1024;  // per write

RowWrite put(Bytes row, Family family, NameKind kind, Bytes value) {
  RowWrite write;
  write.row = std::move(row);
  write.puts.push_back(CellWrite{Column{family, Bytes(name_kind_text(kind))}, std::move(value), 0});
  return write;
}

Result<void> check_logged(const UidAssigner& ids, const LoggedName& name) {
  if (name.kind > NameKind::kTagValue || name.name.empty() || name.name.size() > kRowKeyBytesMax ||
      !ids.check(name.kind, name.uid)) {
    return fail(Errc::kCorruption,
                fmt::format("the log assigns the id {} of kind {} to a name of {} bytes", name.uid,
                            static_cast<int>(name.kind), name.name.size()));
  }
  return {};
}

// Those of the ids that have rows. Most ids of a log follow each other, and usually none has a row:
// a scan is much cheaper than a read of each.
Task<boost::unordered_flat_set<std::uint64_t>> find_rows(Table& table, const UidAssigner& ids,
                                                         NameKind kind,
                                                         std::vector<std::uint64_t> logged) {
  boost::unordered_flat_set<std::uint64_t> with_row;
  if (logged.empty()) co_return with_row;
  std::ranges::sort(logged);
  ScanSpec spec;
  spec.family = kNameFamily;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const Bytes end = ids.encode(kind, logged[i]) + Bytes(1, '\0');
    if (i > 0 && logged[i] - logged[i - 1] < kScanGap) {
      spec.ranges.back().end = end;
    } else {
      spec.ranges.push_back({ids.encode(kind, logged[i]), end});
    }
  }
  spec.qualifier_begin = Bytes(name_kind_text(kind));
  spec.qualifier_end = spec.qualifier_begin + Bytes(1, '\0');
  spec.keys_only = true;
  const std::unique_ptr<Scanner> scanner = table.scan(std::move(spec), {});
  for (;;) {
    CO_TRY(const std::vector<Row> rows, co_await scanner->next({}));
    if (rows.empty()) co_return with_row;
    for (const Row& row : rows) {
      const std::uint64_t uid = load_be_width(row.key);
      if (std::ranges::binary_search(logged, uid)) with_row.insert(uid);
    }
  }
}

}  // namespace

Task<void> write_names(Table& table, const UidAssigner& ids, const std::vector<NewName>& names) {
  for (std::size_t begin = 0; begin < names.size(); begin += kWriteNames) {
    const std::size_t end = std::min(begin + kWriteNames, names.size());
    std::vector<RowWrite> rows;
    rows.reserve(2 * (end - begin));
    // Ids last, because names_without_rows() takes the row of an id as proof that all rows exist.
    for (std::size_t i = begin; i < end; ++i) {
      const NewName& name = names[i];
      rows.push_back(put(Bytes(name.name), kIdFamily, name.kind, ids.encode(name.kind, name.uid)));
    }
    for (std::size_t i = begin; i < end; ++i) {
      const NewName& name = names[i];
      rows.push_back(
          put(ids.encode(name.kind, name.uid), kNameFamily, name.kind, Bytes(name.name)));
    }
    CO_TRY_VOID(co_await table.write(std::move(rows)));
  }
  co_return Result<void>();
}

Task<std::vector<LoggedName>> names_without_rows(std::shared_ptr<Table> table, UidWidths widths,
                                                 std::vector<LoggedName> names) {
  UidAssigner ids(table, widths);
  std::array<std::vector<std::uint64_t>, 3> logged;  // by kind
  for (const LoggedName& name : names) {
    CO_TRY_VOID(check_logged(ids, name));
    logged[static_cast<std::size_t>(name.kind)].push_back(name.uid);
  }
  std::array<boost::unordered_flat_set<std::uint64_t>, 3> with_row;
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    std::vector<std::uint64_t>& uids = logged[static_cast<std::size_t>(kind)];
    const std::size_t count = uids.size();
    const std::uint64_t greatest = uids.empty() ? 0 : *std::ranges::max_element(uids);
    CO_TRY(with_row[static_cast<std::size_t>(kind)],
           co_await find_rows(*table, ids, kind, std::move(uids)));
    with_row[static_cast<std::size_t>(kind)].reserve(count);
    // The table may have lost its last writes although the log has them.
    CO_TRY_VOID(co_await ids.raise(kind, greatest));
  }
  std::erase_if(names, [&with_row](const LoggedName& name) {
    // Of several names of an id, the first is kept.
    return !with_row[static_cast<std::size_t>(name.kind)].insert(name.uid).second;
  });
  co_return names;
}

Task<void> write_logged_names(std::shared_ptr<Table> table, UidWidths widths,
                              std::vector<LoggedName> names) {
  const UidAssigner ids(table, widths);
  std::vector<NewName> rows;
  rows.reserve(names.size());
  for (const LoggedName& name : names) {
    rows.push_back({.kind = name.kind, .uid = name.uid, .name = name.name});
  }
  co_return co_await write_names(*table, ids, rows);
}

DeferredNames::DeferredNames(std::shared_ptr<Table> table, UidAssigner& ids, Caches& caches,
                             NameLog& log, OnAssigned on_assigned)
    : table_(std::move(table)),
      ids_(ids),
      caches_(caches),
      log_(log),
      on_assigned_(std::move(on_assigned)),
      refill_(std::make_shared<Semaphore>(SemaphoreLoad{1, 1})) {}

Task<void> DeferredNames::assign(std::vector<Key> names) {
  for (;;) {
    CO_TRY(const Obstacle obstacle, try_assign(names));
    if (obstacle.reserved) {
      const Result<void> waited = co_await obstacle.reserved->wait();
      static_cast<void>(waited);  // never fails
    } else if (obstacle.ids != 0) {
      CO_TRY_VOID(co_await refill(obstacle.kind, obstacle.ids));
    } else {
      co_return Result<void>();
    }
  }
}

void DeferredNames::restore(const std::vector<LoggedName>& names, NamePart part) {
  std::vector<NewName> restored;
  for (const LoggedName& name : names) {
    if (XXH3_64bits(name.name.data(), name.name.size()) % part.count != part.number) continue;
    const UidTable::NameMapping* const entry = cache(name.kind).remember(name.name, name.uid);
    restored.push_back({.kind = name.kind, .uid = name.uid, .name = entry->name});
  }
  std::ignore = unwritten_.add([&restored](std::vector<NewName>& waiting) -> Result<void> {
    waiting.insert(waiting.end(), restored.begin(), restored.end());
    return {};
  });
}

// Assigns ids to all the names at once, unless something blocks it.
Result<DeferredNames::Obstacle> DeferredNames::try_assign(std::span<const Key> names) {
  Obstacle obstacle;
  const std::lock_guard lock(mutex_);
  std::array<std::vector<const Key*>, 3> unknown;
  for (const Key& key : names) {
    if (cache(key.first).find(key.second) != nullptr) continue;
    if (!reserved_.empty()) {
      const auto reserved = reserved_.find(key);
      if (reserved != reserved_.end()) {
        obstacle.reserved = reserved->second;
        return obstacle;
      }
    }
    unknown[static_cast<std::size_t>(key.first)].push_back(&key);
  }
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    std::size_t wanted = unknown[static_cast<std::size_t>(kind)].size();
    wanted -= std::min(wanted, unused(kind).size());
    const IdRange& ids = block(kind);
    if (wanted <= ids.end - ids.begin || (ids.end != 0 && !ids_.check(kind, ids.end))) continue;
    obstacle.kind = kind;
    obstacle.ids = wanted;
    return obstacle;
  }
  for (const auto& of_kind : unknown) TRY_VOID(give_ids(of_kind));
  return obstacle;
}

// For one kind; the block is large enough, or contains the last ids of the kind.
Result<void> DeferredNames::give_ids(std::span<const Key* const> names) {
  std::vector<NewName> group;
  std::size_t bytes = 0;
  const auto give = [this, &group, &bytes]() -> Result<void> {
    if (group.empty()) return {};
    TRY_VOID(give_group(group.front().kind, group));
    group.clear();
    bytes = 0;
    return {};
  };
  for (const Key* const key : names) {
    const auto& [kind, name] = *key;
    const std::uint64_t uid = next_uid(kind, group.size());
    if (Result<void> exists = ids_.check(kind, uid); !exists) {
      TRY_VOID(give());
      return exists;
    }
    const std::size_t more = name.size() + 16;
    if (bytes + more > kNameLogBytesMax) TRY_VOID(give());
    bytes += more;
    group.push_back({.kind = kind, .uid = next_uid(kind, group.size()), .name = name});
  }
  return give();
}

// The log contains all of the group or none, and names in the log become visible.
Result<void> DeferredNames::give_group(NameKind kind, std::span<const NewName> group) {
  std::vector<const UidTable::NameMapping*> entries;
  entries.reserve(group.size());
  TRY_VOID(unwritten_.add([&](std::vector<NewName>& waiting) -> Result<void> {
    TRY_VOID(log_.append(group));
    for (const NewName& name : group) {
      entries.push_back(cache(kind).remember(name.name, name.uid));
      waiting.push_back({.kind = kind, .uid = name.uid, .name = entries.back()->name});
    }
    return {};
  }));
  take_uids(kind, group.size());
  for (const UidTable::NameMapping* const entry : entries) on_assigned_(kind, *entry);
  return {};
}

// The id after `ahead` others.
std::uint64_t DeferredNames::next_uid(NameKind kind, std::size_t ahead) {
  const std::vector<std::uint64_t>& again = unused(kind);
  if (ahead < again.size()) return again[again.size() - 1 - ahead];
  return block(kind).begin + (ahead - again.size());
}

void DeferredNames::take_uids(NameKind kind, std::size_t count) {
  std::vector<std::uint64_t>& again = unused(kind);
  const std::size_t of_those = std::min(count, again.size());
  again.resize(again.size() - of_those);
  block(kind).begin += count - of_those;
  given_[static_cast<std::size_t>(kind)].fetch_add(count, std::memory_order_relaxed);
}

void DeferredNames::reuse(NameKind kind, std::vector<std::uint64_t> uids) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t>& again = unused(kind);
  again.insert(again.end(), uids.begin(), uids.end());
  std::ranges::sort(again, std::greater());
}

Task<std::array<std::uint64_t, 3>> DeferredNames::stop_reuse() {
  std::array<std::uint64_t, 3> ends = {};
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    // Reads the counter before the block: ids reserved meanwhile are above it.
    CO_TRY(const std::uint64_t last, co_await ids_.last_reserved(kind));
    const std::lock_guard lock(mutex_);
    unused(kind).clear();
    const IdRange& ids = block(kind);
    ends[static_cast<std::size_t>(kind)] = ids.end != 0 ? ids.begin : last + 1;
  }
  co_return ends;
}

Task<void> DeferredNames::refill(NameKind kind, std::uint64_t ids) {
  CO_TRY(const Semaphore::Permit pass, co_await refill_->enter(SemaphoreLoad{1, 0}));
  std::uint64_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    IdRange& now = block(kind);
    if (now.end - now.begin >= ids) co_return Result<void>();  // another caller reserved them
    now.size = std::clamp(2 * now.size, kBlockMin, kBlockMax);
    count = std::max(now.size, ids);
  }
  CO_TRY(const std::uint64_t first, co_await ids_.reserve(kind, count));
  const std::lock_guard lock(mutex_);
  IdRange& now = block(kind);
  if (first == 1) all_cached_[static_cast<std::size_t>(kind)] = true;  // no name had an id before
  if (now.end != first) now.begin = first;  // otherwise it continues the last block
  now.end = first + count;
  co_return Result<void>();
}

DeferredNames::NameReservation::NameReservation(DeferredNames& owner,
                                                std::pair<NameKind, std::string> name)
    : owner_(&owner), name_(std::move(name)) {}

DeferredNames::NameReservation::~NameReservation() {
  if (owner_ == nullptr) return;
  Completion waiters;
  {
    const std::lock_guard lock(owner_->mutex_);
    const auto reserved = owner_->reserved_.find(name_);
    waiters = reserved->second;
    owner_->reserved_.erase(reserved);
  }
  waiters.finish({});
}

Task<DeferredNames::NameReservation> DeferredNames::reserve_name(NameKind kind, std::string name) {
  const Key key(kind, std::move(name));
  for (;;) {
    Completion done;
    {
      const std::lock_guard lock(mutex_);
      const auto [reserved, ours] = reserved_.try_emplace(key, done);
      if (ours) break;
      done = reserved->second;
    }
    const Result<void> waited = co_await done.wait();
    static_cast<void>(waited);  // never fails
  }
  co_return NameReservation(*this, key);
}

Task<void> DeferredNames::flush_rows() {
  auto write = [this](const std::vector<NewName>& names) {
    return write_names(*table_, ids_, names);
  };
  return unwritten_.flush_rows(std::move(write));
}

Task<void> DeferredNames::durable() {
  if (unwritten_.empty()) co_return Result<void>();
  co_return co_await log_.durable();
}

Task<void> DeferredNames::give_back() {
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    IdRange left;
    {
      const std::lock_guard lock(mutex_);
      left = std::exchange(block(kind), {});
    }
    if (left.begin == left.end) continue;
    CO_TRY_VOID(co_await ids_.give_back(kind, left.end, left.end - left.begin));
  }
  co_return Result<void>();
}

}  // namespace halite::storage
