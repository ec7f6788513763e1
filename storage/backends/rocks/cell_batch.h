// The cells of one write() call, encoded for RocksDB except for their times. The committer sets the
// times in commit order.
#pragma once

#include <cstddef>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "common/bytes/bytes.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/database.h"
#include "storage/backends/rocks/recent_cells.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage::rocks {

class CellBatch {
 public:
  CellBatch() = default;
  // The caller has checked the rows against `families`.
  CellBatch(const std::vector<RowWrite>& rows, const std::vector<FamilyHandle>& families);

  // The approximate memory of such a batch, rather too much than too little.
  [[nodiscard]] static std::size_t bytes_of(const std::vector<RowWrite>& rows);

  [[nodiscard]] std::size_t cell_count() const { return items_.size(); }

  // Sets the times of the cells and adds them to `batch`.
  [[nodiscard]] rocksdb::Status append_to(rocksdb::WriteBatch& batch, HybridClock& times);

  // The cells of the batch are no longer what `recent` contains.
  void remove_from(RecentCells& recent) const;

 private:
  struct Item {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    std::size_t key_begin = 0;  // in data_; the value follows the key
    std::size_t key_bytes = 0;
    std::size_t value_bytes = 0;  // including the time; 0 = a delete
    TimestampMs asked_time = 0;
  };
  void add_key(BytesView row_prefix, const Column& column,
               const std::vector<FamilyHandle>& families);

  Bytes data_;
  std::vector<Item> items_;  // a row's deletes come before its puts
};

}  // namespace halite::storage::rocks
