#include "storage/backends/rocks/files/lasting_write.h"

#include <cstdint>

namespace halite::storage::rocks {
namespace {

constexpr const char* kUnusedKey = "nothing";

rocksdb::Status have_something_to_flush(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
  std::uint64_t entries = 0;
  if (db.GetIntProperty(family, rocksdb::DB::Properties::kNumEntriesActiveMemTable, &entries) &&
      entries > 0) {
    return rocksdb::Status::OK();
  }
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  return db.Delete(unlogged, family, kUnusedKey);
}

}  // namespace

rocksdb::Status write_lasting(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family,
                              rocksdb::WriteBatch& batch) {
  rocksdb::Status ready = have_something_to_flush(db, family);
  if (!ready.ok()) return ready;
  rocksdb::WriteOptions lasting;
  lasting.sync = true;
  return db.Write(lasting, &batch);
}

}  // namespace halite::storage::rocks
