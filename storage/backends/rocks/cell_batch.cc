#include "storage/backends/rocks/cell_batch.h"

#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/key.h"

namespace halite::storage::rocks {

namespace {

constexpr std::size_t kCellOverheadBytes = 64;  // time, escapes, the item, RocksDB's own record

}  // namespace

std::size_t CellBatch::bytes_of(const std::vector<RowWrite>& rows) {
  std::size_t bytes = 0;
  for (const RowWrite& row : rows) {
    const std::size_t cell_bytes = row.row.size() + kCellOverheadBytes;
    bytes += (row.puts.size() + row.deletes.size()) * cell_bytes;
    for (const CellWrite& put : row.puts) bytes += put.column.qualifier.size() + put.value.size();
    for (const Column& column : row.deletes) bytes += column.qualifier.size();
  }
  return bytes;
}

CellBatch::CellBatch(const std::vector<RowWrite>& rows, const std::vector<FamilyHandle>& families) {
  std::size_t cells = 0;
  for (const RowWrite& row : rows) cells += row.puts.size() + row.deletes.size();
  items_.reserve(cells);
  for (const RowWrite& row : rows) {
    const Bytes prefix = row_prefix(row.row);
    for (const Column& column : row.deletes) add_key(prefix, column, families);
    for (const CellWrite& put : row.puts) {
      add_key(prefix, put.column, families);
      data_.append(kCellTimeBytes, '\0');
      data_.append(put.value);
      items_.back().value_bytes = kCellTimeBytes + put.value.size();
      items_.back().asked_time = put.time;
    }
  }
}

void CellBatch::add_key(BytesView row_prefix, const Column& column,
                        const std::vector<FamilyHandle>& families) {
  Item item;
  item.family = families[column.family].column_family;
  item.key_begin = data_.size();
  data_.append(row_prefix);
  data_.append(column.qualifier);
  item.key_bytes = data_.size() - item.key_begin;
  items_.push_back(item);
}

rocksdb::Status CellBatch::append_to(rocksdb::WriteBatch& batch, HybridClock& times) {
  for (const Item& item : items_) {
    char* key_at = data_.data() + item.key_begin;
    const rocksdb::Slice key(key_at, item.key_bytes);
    const rocksdb::Slice value(key_at + item.key_bytes, item.value_bytes);
    rocksdb::Status status;
    if (item.value_bytes == 0) {
      status = batch.Delete(item.family, key);
    } else {
      set_cell_time(key_at + item.key_bytes, times.time_for(item.asked_time));
      // A stamp is not below any committed time, so a plain put is enough.
      status = item.asked_time == 0 ? batch.Put(item.family, key, value)
                                    : batch.Merge(item.family, key, value);
    }
    if (!status.ok()) return status;
  }
  return rocksdb::Status::OK();
}

void CellBatch::remove_from(RecentCells& recent) const {
  for (const Item& item : items_) {
    const std::uint32_t family = item.family->GetID();
    if (recent.has_family(family)) {
      recent.erase(family, data_.substr(item.key_begin, item.key_bytes));
    }
  }
}

}  // namespace halite::storage::rocks
