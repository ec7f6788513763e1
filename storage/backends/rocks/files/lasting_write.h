// Durable writes to RocksDB.
//
//   Threads  Call from any thread.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>

namespace halite::storage::rocks {

// Writes the whole batch or nothing. May also delete an unused key of `family`: after a failed log
// write, RocksDB 7.8 recovers with a new log, but only if there is data in memory to flush.
// Otherwise it continues the broken log, and an assertion stops the process.
rocksdb::Status write_lasting(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family,
                              rocksdb::WriteBatch& batch);

}  // namespace halite::storage::rocks
