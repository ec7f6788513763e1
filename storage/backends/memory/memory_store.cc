#include "storage/backends/memory/memory_store.h"

#include <utility>

#include "storage/backends/memory/table.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage {

MemoryStore::MemoryStore(const Clock& clock) : clock_(clock) {}
MemoryStore::~MemoryStore() = default;

Task<std::shared_ptr<Table>> MemoryStore::open_table(TableSpec spec) {
  co_return find_or_make(std::move(spec));
}

Result<std::shared_ptr<Table>> MemoryStore::find_or_make(TableSpec spec) {
  TRY_VOID(check_table_spec(spec));
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(spec.name);
  if (found == tables_.end()) {
    auto table = std::make_shared<memory::MemoryTable>(spec, clock_);
    tables_.emplace(spec.name, table);
    return table;
  }
  TRY_VOID(check_same_families(found->second->specs(), spec));
  found->second->set_ttls(spec);
  return found->second;
}

Task<void> MemoryStore::close() { co_return Result<void>(); }

}  // namespace halite::storage
