// Writes that are on disk when they return.
//
//   Threads  any.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>

namespace halite::storage::rocks {

// All of the batch or nothing. `family` is where a key that nobody asks for may be removed: RocksDB
// 7.8 gets over a log that could not be written by beginning another one, but it only does so when
// there is something in memory to flush. Else it takes the broken log again, and stops the process
// by an assertion.
rocksdb::Status write_lasting(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family,
                              rocksdb::WriteBatch& batch);

}  // namespace halite::storage::rocks
