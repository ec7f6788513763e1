// The RocksDB database of one data directory: its lock, its column families, and the list of tables
// in the column family "default" (docs/formats/rocks-cells.md).
//
//   Threads   Call open_table() and db() from any thread. All calls block.
//   Lifetime  Stop all use of db() before you call close().
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "common/clock.h"
#include "common/memory_budget.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/files/block_cache.h"
#include "storage/backends/rocks/files/rocksdb_cache.h"
#include "storage/backends/rocks/files/write_recovery.h"
#include "storage/backends/rocks/options.h"
#include "storage/files/fenced_files.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// One family of a table. Valid while the Database is open.
struct FamilyHandle {
  rocksdb::ColumnFamilyHandle* column_family = nullptr;
  SharedTtl ttl_ms;
};

// The key in the column family "default" for the greatest cell time that the store has seen (8
// bytes).
inline constexpr BytesView kSeenTimeKey = "seen-time";

class Database {
 public:
  // kConflict: another process uses the directory. kCorruption: damaged files, by name.
  // kUnsupported: a newer Halite wrote it. The clock outlives the database.
  static Result<std::unique_ptr<Database>> open(const RocksOptions& options, const Clock& clock);

  ~Database();

  // The families of the table, in the spec's order. Creates missing ones.
  Result<std::vector<FamilyHandle>> open_table(const TableSpec& spec);

  // Written if it is another one. Not with read_only.
  Result<void> set_format(StoreFormat format);

  [[nodiscard]] rocksdb::DB& db() { return *db_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* meta() { return db_->DefaultColumnFamily(); }
  [[nodiscard]] TimestampMs seen_time() const { return seen_time_; }  // at the time of open()

  [[nodiscard]] MemoryUser memory_user() const {  // blocks of files
    return block_cache_user("rocksdb.block_cache_bytes", block_cache_);
  }
  void drop_caches() { block_cache_->EraseUnRefEntries(); }

  // Writes a copy of all tables to `dir` (files/checkpoint.h).
  Result<void> checkpoint(const std::string& dir);

  // Rewrites every file of every table, without expired cells.
  Result<void> compact();

  Result<void> close();  // call once

 private:
  struct TableEntry {
    std::vector<FamilySpec> specs;
    std::vector<FamilyHandle> families;
    std::string noted;  // its text in the list of tables; empty = not yet written
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

  std::unique_ptr<FileLock> lock_;  // from open() to close()
  std::unique_ptr<rocksdb::DB> db_;

  std::mutex mutex_;
  std::map<std::string, FamilyHandle> column_families_;  // mutex_ guards this and all that follows
  std::map<std::string, TableEntry> tables_;
  Bytes format_;  // as stored
};

}  // namespace halite::storage::rocks
