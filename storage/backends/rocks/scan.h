// Iterates over a family's keys for a scan. Blocks; RocksScanner in table.cc runs it on the pool.
//
//   Order    Forwards, or rows backwards with the cells of each row forwards.
//   Skips    A seek passes keys that need no read: rejected rows, cells outside the qualifier
//            range, the rest of a row if only its key is wanted, gaps between ranges.
//   Sees     The family at the time of the first next().
//   Stop     Checks its ReadContext every few rows, so a cancelled scan ends soon.
//   Threads  One next() at a time. Call close() only between two.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <rocksdb/db.h>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/database.h"

namespace halite::storage::rocks {

class CellScan {
 public:
  // The caller has checked the spec. The database outlives the scan or closes it.
  CellScan(Database& database, FamilyHandle family, ScanSpec spec, ReadContext context);

  struct Batch {
    std::vector<Row> rows;
    bool finished = false;  // the scan is over. If false, rows may be empty; call next() again
  };
  // Visits a limited number of keys, so that no scan occupies a thread for long.
  Result<Batch> next(ScanLimit limit, TimestampMs now);

  void close() { it_.reset(); }

 private:
  struct EncodedRange {
    Bytes begin;  // encoded; empty = open
    Bytes end;
  };

  void open();
  Result<void> check() const;
  // Moves to the first unread row of the range, and to the next ranges as needed. Returns false at
  // the end.
  bool find_row();
  [[nodiscard]] const EncodedRange& range() const;
  void enter_range();
  [[nodiscard]] bool in_range() const;
  // Reads the row's key. Returns false if the row is not wanted.
  Result<bool> open_row();
  // Copies the row's wanted cells up to the limit. Returns true at the end of the row.
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
  Bytes lowest_;  // the bounds of all ranges, for the iterator
  Bytes highest_;
  rocksdb::Slice lowest_slice_;
  rocksdb::Slice highest_slice_;
  std::unique_ptr<rocksdb::Iterator> it_;

  std::size_t ranges_done_ = 0;
  bool range_entered_ = false;
  bool row_open_ = false;  // it_ is at the next cell of row_prefix_
  Bytes row_prefix_;
  Bytes row_key_;
  std::uint32_t keys_left_ = 0;  // to visit in this next()
  std::uint32_t rows_seen_ = 0;
};

// The open scans. Closing the store releases their iterators.
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
