// Tables in sorted maps: for tests, demos and `--store memory`. Nothing survives the process.
//
//   Threads  Call from any thread. Each table has one lock, never held across an await.
//   TTL      Reads hide expired cells at once; later writes remove them in small steps.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/clock.h"
#include "storage/api/wide_column.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage {

namespace memory {
class MemoryTable;
}  // namespace memory

class MemoryStore final : public WideColumnStore {
 public:
  explicit MemoryStore(const Clock& clock);  // the clock outlives the store
  ~MemoryStore() override;

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override;
  Task<void> close() override;

 private:
  Result<std::shared_ptr<Table>> find_or_make(TableSpec spec);

  HybridClock clock_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<memory::MemoryTable>> tables_;  // guarded by mutex_
};

}  // namespace halite::storage
