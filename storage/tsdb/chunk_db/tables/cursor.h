// Walks cells by key, those of two families as if they were one.
//
//   Threads  for one at a time.
//   Errors   kUnavailable with RocksDB's text; kCorruption where what comes next cannot be read.
#pragma once

#include <cstdint>
#include <memory>

#include <rocksdb/db.h>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/api/read_context.h"
#include "storage/tsdb/chunk_db/tables/damage.h"

namespace halite::storage::engine {

class Cursor {
 public:
  struct CursorFamilies {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    rocksdb::ColumnFamilyHandle* late = nullptr;  // null: the one family alone
    Damage* damage = nullptr;                     // told what status() tells; null = nobody
  };
  // The keys of [begin, end); no key is in both families.
  Cursor(rocksdb::DB& db, CursorFamilies cursor_families, const rocksdb::Snapshot* snapshot,
         Bytes begin, Bytes end, ReadSource from);
  Cursor(const Cursor&) = delete;  // RocksDB points into it
  Cursor& operator=(const Cursor&) = delete;

  // At the first key not below `key`.
  void seek(BytesView key);
  void next();
  // As seek(), quicker where the key is often close behind the one that it was sent to before. Only
  // cells whose keys begin with `wanted`, a part of `key`, are asked for: damage behind them is met
  // as if nothing were there.
  void advance(BytesView key, BytesView wanted);
  // After status() said kCorruption: at the first cell above `from` in front of which nothing is
  // damaged any more. False where there is none: then status() may still tell of damage.
  Result<bool> seek_past_damage(BytesView from);
  // Whether there is a cell where it is, or behind damage that it is in front of: then it goes
  // there, as seek_past_damage(), and `met` is set.
  Result<bool> skip_damage(BytesView from, bool* met = nullptr);
  // What comes has nothing to do with what came.
  void forget() { sought_.clear(); }
  // Also false where either of the families cannot be read here: see status().
  [[nodiscard]] bool valid() const { return !failed_ && current().valid(); }
  [[nodiscard]] BytesView key() const { return current().key(); }
  [[nodiscard]] BytesView value() const { return current().value(); }  // alive until it moves
  [[nodiscard]] bool at_late() const { return at_late_; }  // the cell is of the family `late`
  [[nodiscard]] Result<void> status() const;

 private:
  // An iterator that knows when it is where it is sent: late cells are few and far between, and
  // most seeks leave it where it is.
  class Source {
   public:
    // `db` and `options` outlive it.
    void open(rocksdb::DB& db, const rocksdb::ReadOptions& options,
              rocksdb::ColumnFamilyHandle* family);
    [[nodiscard]] bool valid() const { return iterator_ != nullptr && iterator_->Valid(); }
    [[nodiscard]] BytesView key() const { return iterator_->key().ToStringView(); }
    [[nodiscard]] BytesView value() const { return iterator_->value().ToStringView(); }
    // Where it would fail it tries with nothing but keys that begin with `wanted`; empty = it
    // fails.
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
    std::unique_ptr<rocksdb::Iterator> iterator_;  // null: a family that is not asked for
    Bytes from_;                                   // it is at the first key not below this
    bool known_ = false;                           // that is so
    Bytes narrow_end_;                             // what lies behind is hidden; empty = nothing is
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
  Bytes sought_;                  // what advance() went to last; empty = nowhere
  std::size_t wanted_bytes_ = 0;  // how much of that is asked for
  Source main_;
  Source late_;
  bool at_late_ = false;
  bool failed_ = false;
};

}  // namespace halite::storage::engine
