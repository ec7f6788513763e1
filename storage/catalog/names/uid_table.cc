#include "storage/catalog/names/uid_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "storage/catalog/names/deferred_names.h"
#include "storage/catalog/names/name_kind.h"
#include "storage/catalog/names/name_remover.h"
#include "storage/catalog/names/name_rows.h"
#include "storage/catalog/names/shared_assignment.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/names/uid_cache.h"

namespace halite::storage {
namespace {

using Key = std::pair<NameKind, std::string>;

}  // namespace

TableSpec uid_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"id", 0}, FamilySpec{"name", 0}};
  return spec;
}

struct UidTable::Impl {
  Impl(std::shared_ptr<Table> names, UidWidths widths, NameForm form)
      : table(names),
        assigner(names, widths, form),
        rows(names, assigner),
        assignment(assigner, caches, [this](NameKind kind, const NameMapping& entry) {
          tell(&Watcher::assigned, kind, entry);
        }) {}

  [[nodiscard]] UidCache& cache(NameKind kind) { return caches[static_cast<std::size_t>(kind)]; }

  // Checks a name and its bytes, which may be one longer.
  [[nodiscard]] Result<void> check(NameKind kind, std::string_view name) const {
    TRY_VOID(check_name(kind, name));
    return check_name(kind, assigner.bytes().of(name));
  }
  // Caches pairs that were read; false: read them again.
  bool remember(const std::vector<NameRemover::Pair>& read, std::uint64_t removals);
  [[nodiscard]] std::uint64_t removals() const {
    return name_remover ? name_remover->removals() : 0;
  }
  Task<void> read_uids(const std::vector<UidRequest>& unknown);
  Task<void> resolve_once(const std::vector<NameRequest>& requests, Result<void>& assigned);

  // The names of `requests` that are not cached, without duplicates.
  std::vector<NameRequest> unknown_names(const std::vector<NameRequest>& requests);
  Task<void> read_names(const std::vector<NameRequest>& unknown);
  void tell(std::function<void(NameKind, const NameMapping&)> Watcher::* what, NameKind kind,
            const NameMapping& entry) const;

  const std::shared_ptr<Table> table;
  UidAssigner assigner;
  NameRows rows;
  std::array<UidCache, 3> caches;
  std::optional<DeferredNames> deferred;    // set before any other call
  std::optional<NameRemover> name_remover;  // set together with deferred
  // Set before any other call; may be empty.
  std::function<std::shared_ptr<const SeriesPin>()> pin;
  std::vector<Watcher> watchers;  // set before any other call
  SharedAssignment assignment;    // used if nothing is deferred
};

void UidTable::Impl::tell(std::function<void(NameKind, const NameMapping&)> Watcher::* what,
                          NameKind kind, const NameMapping& entry) const {
  for (const Watcher& watcher : watchers) {
    if (watcher.*what) (watcher.*what)(kind, entry);
  }
}

std::vector<UidTable::NameRequest> UidTable::Impl::unknown_names(
    const std::vector<NameRequest>& requests) {
  std::vector<NameRequest> unknown;
  std::array<boost::unordered_flat_map<std::string_view, std::size_t>, 3> seen;
  for (const NameRequest& request : requests) {
    if (!check(request.kind, request.name)) continue;
    if (cache(request.kind).find(request.name) != nullptr) continue;
    auto& of_kind = seen[static_cast<std::size_t>(request.kind)];
    const auto [at, fresh] = of_kind.try_emplace(request.name, unknown.size());
    if (fresh) {
      unknown.push_back(request);
    } else {
      unknown[at->second].create |= request.create;
    }
  }
  return unknown;
}

bool UidTable::Impl::remember(const std::vector<NameRemover::Pair>& read, std::uint64_t removals) {
  if (name_remover) return name_remover->remember(read, removals);
  for (const NameRemover::Pair& pair : read) cache(pair.kind).remember(pair.name, pair.uid);
  return true;
}

Task<void> UidTable::Impl::read_names(const std::vector<NameRequest>& unknown) {
  std::vector<NameRequest> asked;
  asked.reserve(unknown.size());
  for (const NameRequest& request : unknown) {
    if (deferred && deferred->all_cached(request.kind)) continue;  // then it does not exist
    asked.push_back(request);
  }
  if (asked.empty()) co_return Result<void>();
  for (;;) {
    const std::uint64_t before = removals();
    CO_TRY(const auto uids, co_await rows.ids(asked));
    std::vector<NameRemover::Pair> found;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (!uids[i]) continue;
      found.push_back({.kind = asked[i].kind, .uid = *uids[i], .name = asked[i].name});
    }
    if (remember(found, before)) co_return Result<void>();
  }
}

Task<void> UidTable::Impl::read_uids(const std::vector<UidRequest>& unknown) {
  for (;;) {
    const std::uint64_t before = removals();
    std::vector<RowRead> reads;
    reads.reserve(unknown.size());
    for (const UidRequest& request : unknown) {
      reads.push_back(RowRead{assigner.encode(request.kind, request.uid),
                              kNameFamily,
                              {Bytes(name_kind_text(request.kind))}});
    }
    CO_TRY(const std::vector<Row> read, co_await table->read(std::move(reads)));
    std::vector<NameRemover::Pair> found;
    std::vector<NameRequest> doubtful;  // the name may have another id, which is valid
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (read[i].cells.empty()) continue;
      const Bytes& bytes = read[i].cells.front().value;
      std::string name = assigner.bytes().name(bytes);
      if (assigner.bytes().of(name) != bytes) doubtful.push_back({unknown[i].kind, name, false});
      found.push_back({.kind = unknown[i].kind, .uid = unknown[i].uid, .name = std::move(name)});
    }
    if (!doubtful.empty()) CO_TRY_VOID(co_await read_names(doubtful));
    if (remember(found, before)) co_return Result<void>();
  }
}

UidTable::UidTable(std::shared_ptr<Table> table, UidWidths widths, NameForm form)
    : impl_(std::make_unique<Impl>(std::move(table), widths, form)) {}
UidTable::~UidTable() = default;

void UidTable::watch(Watcher watcher) { impl_->watchers.push_back(std::move(watcher)); }

void UidTable::defer(NameLog& log) {
  auto on_assigned = [this](NameKind kind, const NameMapping& entry) {
    impl_->tell(&Watcher::assigned, kind, entry);
  };
  impl_->deferred.emplace(impl_->table, impl_->assigner, impl_->caches, log,
                          std::move(on_assigned));
  impl_->name_remover.emplace(impl_->table, impl_->assigner, impl_->caches, *impl_->deferred);
}

void UidTable::restore(const std::vector<LoggedName>& names, NamePart part) {
  impl_->deferred->restore(names, part);
}

NameRemover* UidTable::name_remover() {
  return impl_->name_remover ? &*impl_->name_remover : nullptr;
}

void UidTable::pin_with(std::function<std::shared_ptr<const SeriesPin>()> pin) {
  impl_->pin = std::move(pin);
}

std::shared_ptr<const SeriesPin> UidTable::pin() const {
  return impl_->pin ? impl_->pin() : nullptr;
}

Task<void> UidTable::flush_rows() {
  if (!impl_->deferred) co_return Result<void>();
  co_return co_await impl_->deferred->flush_rows();
}

Task<void> UidTable::give_back() {
  if (!impl_->deferred) co_return Result<void>();
  co_return co_await impl_->deferred->give_back();
}

Task<std::vector<Result<UidTable::NameMapping>>> UidTable::resolve(
    std::vector<NameRequest> requests) {
  const bool creates = std::ranges::any_of(requests, &NameRequest::create);
  CO_TRY(auto entries, co_await resolve_logged(std::move(requests)));
  // Also if another caller has just created it.
  if (creates && impl_->deferred) CO_TRY_VOID(co_await impl_->deferred->durable());
  co_return std::move(entries);
}

// Reads and assigns the names that are not cached.
Task<void> UidTable::Impl::resolve_once(const std::vector<NameRequest>& requests,
                                        Result<void>& assigned) {
  const std::vector<NameRequest> unknown = unknown_names(requests);
  if (unknown.empty()) co_return Result<void>();
  CO_TRY_VOID(co_await read_names(unknown));
  std::vector<Key> fresh;
  for (const NameRequest& request : unknown) {
    if (!request.create || cache(request.kind).find(request.name) != nullptr) continue;
    fresh.emplace_back(request.kind, request.name);
  }
  if (fresh.empty()) co_return Result<void>();
  Task<void> assigning =
      deferred ? deferred->assign(std::move(fresh)) : assignment.assign(std::move(fresh));
  assigned = co_await std::move(assigning);
  co_return Result<void>();
}

Task<std::vector<Result<UidTable::NameMapping>>> UidTable::resolve_logged(
    std::vector<NameRequest> requests) {
  for (;;) {
    const std::uint64_t removals = impl_->removals();
    Result<void> assigned;
    CO_TRY_VOID(co_await impl_->resolve_once(requests, assigned));
    bool went = false;  // a name was in the cache, but is there no more
    std::vector<Result<NameMapping>> entries;
    entries.reserve(requests.size());
    for (const NameRequest& request : requests) {
      const NameMapping* entry = cached(request.kind, request.name);
      if (entry != nullptr) {
        entries.emplace_back(*entry);
      } else if (Result<void> legal = impl_->check(request.kind, request.name); !legal) {
        entries.emplace_back(std::unexpected(legal.error()));
      } else if (request.create && !assigned) {
        entries.emplace_back(std::unexpected(assigned.error()));
      } else {
        went = went || request.create || impl_->removals() != removals;
        entries.emplace_back(std::unexpected(no_such_name(request.kind, request.name)));
      }
    }
    if (!went) co_return entries;
  }
}

Task<UidTable::NameMapping> UidTable::find(NameKind kind, std::string name) {
  if (const NameMapping* entry = cached(kind, name)) co_return *entry;
  std::vector<NameRequest> requests;
  requests.push_back(NameRequest{kind, std::move(name), false});
  CO_TRY(const std::vector<Result<NameMapping>> entries, co_await resolve(std::move(requests)));
  co_return entries.front();
}

Task<UidTable::NameMapping> UidTable::find_or_assign(NameKind kind, std::string name) {
  if (const NameMapping* entry = cached(kind, name)) co_return *entry;
  std::vector<NameRequest> requests;
  requests.push_back(NameRequest{kind, std::move(name), true});
  CO_TRY(const std::vector<Result<NameMapping>> entries, co_await resolve(std::move(requests)));
  co_return entries.front();
}

Task<UidTable::NameMapping> UidTable::name_of(NameKind kind, std::uint64_t uid) {
  if (const NameMapping* entry = cached(kind, uid)) co_return *entry;
  std::vector<UidRequest> requests{UidRequest{kind, uid}};
  CO_TRY(const std::vector<Result<NameMapping>> entries, co_await names_of(std::move(requests)));
  co_return entries.front();
}

Task<std::vector<Result<UidTable::NameMapping>>> UidTable::names_of(
    std::vector<UidRequest> requests) {
  std::vector<UidRequest> unknown;
  for (const UidRequest& request : requests) {
    if (cached(request.kind, request.uid) == nullptr) unknown.push_back(request);
  }
  if (!unknown.empty()) CO_TRY_VOID(co_await impl_->read_uids(unknown));
  std::vector<Result<NameMapping>> entries;
  entries.reserve(requests.size());
  for (const UidRequest& request : requests) {
    const NameMapping* entry = cached(request.kind, request.uid);
    if (entry != nullptr) {
      entries.emplace_back(*entry);
    } else {
      const Bytes uid = uid_bytes(request.kind, request.uid);
      entries.emplace_back(std::unexpected(no_such_uid(request.kind, uid)));
    }
  }
  co_return entries;
}

Task<UidTable::NameMapping> UidTable::assign(NameKind kind, std::string name) {
  Result<NameMapping> found = co_await find(kind, name);
  if (found) {
    co_return fail(Errc::kConflict,
                   "Name already exists with UID: " + to_hex(uid_bytes(kind, found->uid)));
  }
  if (found.error().code != Errc::kNotFound) co_return found;
  co_return co_await find_or_assign(kind, std::move(name));
}

Task<void> UidTable::keep(std::vector<UidRequest> names) {
  if (!impl_->name_remover || names.empty()) co_return Result<void>();
  std::vector<RowWrite> rows;
  for (const UidRequest& name : names) {
    RowWrite& row = rows.emplace_back();
    row.row = uid_bytes(name.kind, name.uid);
    row.puts.push_back(CellWrite{Column{kNameFamily, assigned_qualifier(name.kind)}, {}, 0});
  }
  co_return co_await impl_->table->write(std::move(rows));
}

Task<void> UidTable::rename(NameKind kind, std::string old_name, std::string new_name) {
  const std::shared_ptr<const SeriesPin> pin = this->pin();
  CO_TRY_VOID(impl_->check(kind, new_name));
  CO_TRY(const NameMapping old_entry, co_await find(kind, old_name));
  for (const Watcher& watcher : impl_->watchers) {
    if (!watcher.renaming) continue;
    Task<void> telling = watcher.renaming(kind, old_entry, new_name);
    CO_TRY_VOID(co_await std::move(telling));
  }
  std::optional<DeferredNames::NameReservation> reserved;
  if (impl_->deferred) {
    // No caller can assign the new name meanwhile, and earlier assignments are in the table.
    CO_TRY(DeferredNames::NameReservation ours,
           co_await impl_->deferred->reserve_name(kind, new_name));
    reserved.emplace(std::move(ours));
    CO_TRY_VOID(co_await impl_->deferred->flush_rows());
  }
  if (impl_->assigner.bytes().earlier(new_name)) {
    // An earlier version's row also counts as taken; the read adds OpenTSDB's row.
    const std::vector<NameRequest> taken = {{kind, new_name, false}};
    CO_TRY_VOID(co_await impl_->read_names(taken));
  }
  // Writes the new pair first, so that readers understand each step; deletes the old name last.
  CO_TRY(const std::uint64_t holder,
         co_await impl_->assigner.put_forward(kind, new_name, old_entry.uid));
  if (holder != old_entry.uid) {
    co_return fail(
        Errc::kConflict,
        fmt::format("When trying rename(\"{}\", \"{}\"): new name already assigned ID={}", old_name,
                    new_name, to_hex(uid_bytes(kind, holder))));
  }
  CO_TRY_VOID(co_await impl_->rows.put_name(kind, old_entry.uid, new_name));
  if (old_name != new_name) {
    CO_TRY_VOID(co_await impl_->rows.delete_name(kind, old_name, old_entry.uid));
    impl_->cache(kind).rename(old_name, new_name, old_entry.uid);
    impl_->tell(&Watcher::renamed, kind, *impl_->cache(kind).find(old_entry.uid));
  }
  co_return Result<void>();
}

const UidTable::NameMapping* UidTable::cached(NameKind kind, std::string_view name) const {
  return impl_->name_remover ? impl_->name_remover->find(kind, name)
                             : impl_->cache(kind).find(name);
}

const UidTable::NameMapping* UidTable::cached(NameKind kind, std::uint64_t uid) const {
  return impl_->name_remover ? impl_->name_remover->find(kind, uid) : impl_->cache(kind).find(uid);
}

Bytes UidTable::uid_bytes(NameKind kind, std::uint64_t uid) const {
  return impl_->assigner.encode(kind, uid);
}

// Takes at most `max` of each range, then sorts by code points, which is OpenTSDB's order.
Task<std::vector<std::string>> UidTable::suggest(NameKind kind, std::string prefix,
                                                 std::size_t max) {
  CO_TRY_VOID(co_await flush_rows());
  std::vector<std::string> names;
  for (KeyRange& range : impl_->assigner.bytes().ranges(prefix)) {
    CO_TRY(std::vector<std::string> more,
           co_await impl_->rows.names_in(kind, std::move(range), prefix, max));
    std::ranges::move(more, std::back_inserter(names));
  }
  std::ranges::sort(names);
  const auto doubles = std::ranges::unique(names);
  names.erase(doubles.begin(), doubles.end());
  if (names.size() > max) names.resize(max);
  co_return names;
}

}  // namespace halite::storage
