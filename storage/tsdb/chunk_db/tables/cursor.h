// Iterates over cells in key order; merges two families into one sequence.
//
//   Threads  not thread-safe.
//   Errors   kUnavailable with RocksDB's text; kCorruption if the next cell cannot be read.
#pragma once

#include <memory>

#include <rocksdb/db.h>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/api/read_context.h"
#include "storage/tsdb/chunk_db/tables/damage.h"

namespace halite::storage::engine {

class Cursor {
 public:
  struct CursorFamilies {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    rocksdb::ColumnFamilyHandle* late = nullptr;  // null: one family only
    Damage* damage = nullptr;                     // notified of errors of status(); may be null
  };
  // The keys in [begin, end). No key may be in both families.
  Cursor(rocksdb::DB& db, CursorFamilies cursor_families, const rocksdb::Snapshot* snapshot,
         Bytes begin, Bytes end, ReadSource from);
  Cursor(const Cursor&) = delete;  // RocksDB points into it

  // Moves to the first key not below `key`.
  void seek(BytesView key);
  void next();
  // As seek(), but faster if the key is often close after the previous one. Only cells whose keys
  // begin with `wanted`, a prefix of `key`, are of interest: damage after them counts as the end.
  void advance(BytesView key, BytesView wanted);
  // After status() returned kCorruption: moves to the first cell above `from` that has no more
  // damage before it. False if there is none; status() may then still report damage.
  Result<bool> seek_past_damage(BytesView from);
  // Whether there is a cell at the current position or after the damage there. In the second case
  // moves to it, as seek_past_damage(), and sets `met`.
  Result<bool> skip_damage(BytesView from, bool* met = nullptr);
  // Call it when the next seek is unrelated to the previous one.
  void forget() { sought_.clear(); }
  // Also false if either family cannot be read here: see status().
  [[nodiscard]] bool valid() const { return !failed_ && current().valid(); }
  [[nodiscard]] BytesView key() const { return current().key(); }
  [[nodiscard]] BytesView value() const { return current().value(); }  // valid until it moves
  [[nodiscard]] bool at_late() const { return at_late_; }  // the cell is in the family `late`
  [[nodiscard]] Result<void> status() const;

 private:
  // An iterator that remembers its position. Late cells are rare, so most seeks do not move it.
  class Source {
   public:
    // `db` and `options` must outlive it.
    void open(rocksdb::DB& db, const rocksdb::ReadOptions& options,
              rocksdb::ColumnFamilyHandle* family);
    [[nodiscard]] bool valid() const { return iterator_ != nullptr && iterator_->Valid(); }
    [[nodiscard]] BytesView key() const { return iterator_->key().ToStringView(); }
    [[nodiscard]] BytesView value() const { return iterator_->value().ToStringView(); }
    // If the seek fails, retries with only the keys that begin with `wanted`; empty = no retry.
    void seek(BytesView key, BytesView wanted);
    void next(BytesView wanted);
    [[nodiscard]] rocksdb::Status status() const;
    [[nodiscard]] bool failed() const { return !valid() && !status().ok(); }

   private:
    void moved(BytesView wanted);
    void narrow(BytesView wanted);

    rocksdb::DB* db_ = nullptr;
    const rocksdb::ReadOptions* options_ = nullptr;
    rocksdb::ColumnFamilyHandle* family_ = nullptr;
    std::unique_ptr<rocksdb::Iterator> iterator_;  // null: no such family
    Bytes from_;                                   // it is at the first key not below this one
    bool known_ = false;                           // whether from_ is valid
    Bytes narrow_end_;                             // keys from here on are hidden; empty = none
    rocksdb::Slice narrow_upper_;
  };

  [[nodiscard]] BytesView wanted() const { return BytesView(sought_).substr(0, wanted_bytes_); }
  [[nodiscard]] const Source& current() const { return at_late_ ? late_ : main_; }
  void choose();
  [[nodiscard]] Result<bool> can_read(BytesView key);
  [[nodiscard]] Result<void> outcome() const;

  Damage* const damage_;
  const Bytes begin_;
  const Bytes end_;
  const rocksdb::Slice lower_;
  const rocksdb::Slice upper_;
  rocksdb::ReadOptions options_;
  Bytes sought_;                  // last target of advance(); empty = none
  std::size_t wanted_bytes_ = 0;  // size of the wanted prefix of sought_
  Source main_;
  Source late_;
  bool at_late_ = false;
  bool failed_ = false;
};

}  // namespace halite::storage::engine
