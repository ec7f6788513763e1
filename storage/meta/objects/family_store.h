// Keeps metric families. docs/formats/families.md has the cells.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "storage/api/families.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

[[nodiscard]] TableSpec family_table_spec(std::string name);

// Call it from any thread.
class FamilyStore {
 public:
  // Longer names and texts are not kept.
  static constexpr std::size_t kTextBytesMax = 4096;

  explicit FamilyStore(std::shared_ptr<Table> table) : table_(std::move(table)) {}

  // Stores the texts that are not empty. Those stored before cost no write, until a restart.
  Task<void> put(Families families);

  // The families in the order of their names, at most `families_max`; or the one with that name.
  Task<Families> read(std::optional<std::string> name, std::size_t families_max);

 private:
  // The cells to write, and what is known after that.
  [[nodiscard]] std::vector<RowWrite> changes(const Families& families) const;

  static constexpr std::size_t kKnownMax = 100'000;  // more, and it begins anew

  const std::shared_ptr<Table> table_;
  mutable std::mutex mutex_;
  Families known_;  // what the table has, as far as it was written here; guarded by mutex_
};

}  // namespace halite::storage
