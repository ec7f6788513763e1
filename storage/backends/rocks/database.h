// The RocksDB database of one data directory: the lock on it, its column families, and the small
// table of contents in the column family "default" (docs/formats/rocks-cells.md).
//
//   Threads  open_table() and db() from any thread; all calls block.
//   Life     whoever uses db() is done before close().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>

#include "common/clock.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/files/write_recovery.h"
#include "storage/backends/rocks/options.h"
#include "storage/files/fenced_files.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// One family of a table. The handle lives as long as the Database is open.
struct FamilyHandle {
  rocksdb::ColumnFamilyHandle* column_family = nullptr;
  SharedTtl ttl_ms;
};

// Key in the column family "default" of the greatest cell time the store has seen (8 bytes).
inline constexpr BytesView kSeenTimeKey = "seen-time";

class Database {
 public:
  // kConflict: another process has the directory. kCorruption: damaged files, by name.
  // kUnsupported: written by a newer Halite. The clock outlives the database.
  static Result<std::unique_ptr<Database>> open(const RocksOptions& options, const Clock& clock);

  ~Database();

  // The families of the table, in the spec's order, made if they are not there.
  Result<std::vector<FamilyHandle>> open_table(const TableSpec& spec);

  [[nodiscard]] rocksdb::DB& db() { return *db_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* meta() { return db_->DefaultColumnFamily(); }
  [[nodiscard]] TimestampMs seen_time() const { return seen_time_; }  // when it was opened

  void drop_caches() { block_cache_->EraseUnRefEntries(); }

  // All tables as they are now (checkpoint.h).
  Result<void> checkpoint(const std::string& dir);

  // Rewrites every file of every table, expired cells left out.
  Result<void> compact();

  Result<void> close();  // once

 private:
  struct TableEntry {
    std::vector<FamilySpec> specs;
    std::vector<FamilyHandle> families;
    std::string noted;  // what the contents say of it; empty = nothing yet
  };

  Database(const RocksOptions& options, const Clock& clock);

  Result<void> lock_dir();
  Result<void> open_whole();
  [[nodiscard]] Result<void> check_rest() const;
  Result<void> open_db();
  Result<std::vector<std::string>> list_column_families() const;
  Result<void> check_format();
  Result<void> load_contents();
  Result<void> load_table(const std::string& name, BytesView text);
  Result<void> make_table(const TableSpec& spec);
  Result<void> set_ttls(TableEntry& entry, const TableSpec& spec);
  Result<FamilyHandle> family_of(const std::string& name, bool make);
  Result<void> put_meta(BytesView key, BytesView value);

  const RocksOptions options_;
  const Clock& clock_;
  const std::shared_ptr<FileSystem> files_;
  const std::shared_ptr<WriteFence> write_fence_ = std::make_shared<WriteFence>();
  const std::unique_ptr<rocksdb::Env> env_;
  const std::shared_ptr<WriteRecovery> recovery_ = std::make_shared<WriteRecovery>();
  const std::shared_ptr<rocksdb::Cache> block_cache_;
  TimestampMs seen_time_ = 0;

  std::unique_ptr<FileLock> lock_;  // held from open() to close()
  std::unique_ptr<rocksdb::DB> db_;

  std::mutex mutex_;
  std::map<std::string, FamilyHandle> column_families_;  // the rest is guarded by mutex_
  std::map<std::string, TableEntry> tables_;
};

}  // namespace halite::storage::rocks
