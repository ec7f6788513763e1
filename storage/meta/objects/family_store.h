// Keeps metric families. docs/formats/families.md has the cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
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
  // What the table has in a cell, as far as it was written here.
  struct KnownText {
    std::uint64_t text = 0;     // its hash; 0: not known
    std::uint32_t writing = 0;  // writes that have not ended
    bool contested = false;     // several at once: their order is unknown
  };
  struct Change {
    std::uint64_t cell = 0;
    std::uint64_t text = 0;
  };

  // The cells to write. Those in `changes` are then being written.
  [[nodiscard]] std::vector<RowWrite> begin(const Families& families, std::vector<Change>& changes);
  void end(const std::vector<Change>& changes, bool written);

  static constexpr std::size_t kKnownMax = 300'000;  // cells; more, and it begins anew

  const std::shared_ptr<Table> table_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, KnownText> known_;  // by hash of the cell; guarded by mutex_
};

}  // namespace halite::storage
