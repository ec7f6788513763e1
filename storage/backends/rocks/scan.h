// Walks a family's keys for a scan. Blocks; RocksScanner in table.cc takes it to the pool.
//
//   Order    forwards, or row by row backwards with each row's cells forwards.
//   Skips    what need not be read is passed by a seek: rows the filter refuses, cells outside the
//            qualifier range, the rest of a row when only its key is wanted, gaps between ranges.
//   Sees     the family as of the first next().
//   Stop     checks its ReadContext every few rows, so a cancelled scan ends at once.
//   Threads  one next() at a time. close() only between two.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <rocksdb/db.h>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/database.h"

namespace halite::storage::rocks {

class CellScan {
 public:
  // The spec has been checked. The database outlives the scan or closes it.
  CellScan(Database& database, FamilyHandle family, ScanSpec spec, ReadContext context);

  struct Batch {
    std::vector<Row> rows;
    bool finished = false;  // no more to come; otherwise rows may be empty, and next() goes on
  };
  // Looks at a bounded number of keys, so that no scan keeps a thread for long.
  Result<Batch> next(ScanLimit limit, TimestampMs now);

  void close() { it_.reset(); }

 private:
  struct EncodedRange {
    Bytes begin;  // as keys; empty = open
    Bytes end;
  };

  void open();
  Result<void> check() const;
  // Moves to the first row of the range that is not done, and into the next ranges as needed.
  // False when there is none.
  bool find_row();
  [[nodiscard]] const EncodedRange& range() const;
  void enter_range();
  [[nodiscard]] bool in_range() const;
  // Reads the row's key; false when the row is not wanted.
  Result<bool> open_row();
  // Copies the row's wanted cells until the limit; true when the row is done.
  Result<bool> take_cells(std::uint32_t& cells_left, TimestampMs now, Row& row);
  void to_first_wanted_cell();
  void leave_row();
  [[nodiscard]] bool in_row() const;
  [[nodiscard]] BytesView qualifier() const;
  void step();
  void seek(const Bytes& key);
  void count_key();

  Database& database_;
  const FamilyHandle family_;
  const ScanSpec spec_;
  const ReadContext context_;
  std::vector<EncodedRange> ranges_;
  Bytes lowest_;  // bounds of all ranges, for the iterator
  Bytes highest_;
  rocksdb::Slice lowest_slice_;
  rocksdb::Slice highest_slice_;
  std::unique_ptr<rocksdb::Iterator> it_;

  std::size_t ranges_done_ = 0;
  bool range_entered_ = false;
  bool row_open_ = false;  // it_ stands at a cell of row_prefix_ that comes next
  Bytes row_prefix_;
  Bytes row_key_;
  std::uint32_t keys_left_ = 0;  // to look at in this next()
  std::uint32_t rows_seen_ = 0;
};

// The scans that are alive, so that closing the store can take their hold of the database away.
class OpenScans {
 public:
  void add(CellScan* scan) {
    const std::lock_guard lock(mutex_);
    scans_.insert(scan);
  }
  void remove(CellScan* scan) {
    const std::lock_guard lock(mutex_);
    if (scans_.erase(scan) > 0) scan->close();
  }
  void close_all() {
    const std::lock_guard lock(mutex_);
    for (CellScan* scan : scans_) scan->close();
    scans_.clear();
  }

 private:
  std::mutex mutex_;
  std::set<CellScan*> scans_;
};

}  // namespace halite::storage::rocks
