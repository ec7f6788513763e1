// A snapshot of the chunk database, which queries share until the next one: the flush mark, the
// unsealed ranges, and reusable cursors. A cursor keeps all files above the compacted ones open. If
// there are too many, cursors are not kept after their query.
//
//   Threads  call from any thread; a cursor is not thread-safe.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <rocksdb/db.h>

#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"
#include "storage/tsdb/chunk_db/tables/cursor.h"

namespace halite::storage::engine {

class Snapshot {
 public:
  struct Families {
    rocksdb::ColumnFamilyHandle* chunks = nullptr;
    rocksdb::ColumnFamilyHandle* late = nullptr;
    rocksdb::ColumnFamilyHandle* summaries = nullptr;
    Damage* damage = nullptr;  // notified of unreadable data
  };
  // Takes a snapshot of `db`, which must outlive it. keeps_cursors: reuse cursors.
  Snapshot(rocksdb::DB& db, Families families, bool keeps_cursors);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;

  [[nodiscard]] const rocksdb::Snapshot* id() const { return snapshot_; }

  // The creator sets these before it shares the snapshot.
  FlushMark mark;
  std::shared_ptr<const UnsealedRanges> unsealed;

  // Cursors are created on first use; null until then.
  struct Cursors {
    std::unique_ptr<Cursor> chunks;
    std::unique_ptr<Cursor> late;
    std::unique_ptr<Cursor> summaries;
    std::unique_ptr<chunk::Decoder> decoder;  // kept to reuse its memory
  };
  struct CursorKind {
    std::uint32_t shard = 0;
    ReadSource from = ReadSource::kDisk;
  };
  [[nodiscard]] Cursors take(CursorKind place);
  void give_back(CursorKind place, Cursors cursors);
  [[nodiscard]] std::unique_ptr<Cursor> chunk_cursor(CursorKind place) const;
  [[nodiscard]] std::unique_ptr<Cursor> late_cursor(CursorKind place) const;
  [[nodiscard]] std::unique_ptr<Cursor> summary_cursor(CursorKind place) const;
  // Slots of a shard that are unsealed or appear in file metadata, each with one of its periods.
  // Reads no file.
  [[nodiscard]] std::map<std::uint32_t, std::int64_t> known_slots(std::uint32_t shard) const;
  void note_damage(const Error& error) const {
    if (families_.damage != nullptr) families_.damage->note(error);
  }

 private:
  [[nodiscard]] std::unique_ptr<Cursor> cursor(Cursor::CursorFamilies cursor_families,
                                               CursorKind place) const;

  static constexpr std::size_t kShardsMax = 256;
  static constexpr std::size_t kIdleMax = 8;  // for each shard and read source

  rocksdb::DB& db_;
  const Families families_;
  const bool keeps_cursors_;
  const rocksdb::Snapshot* const snapshot_;
  [[nodiscard]] std::vector<Cursors>& idle(CursorKind place) {
    return place.from == ReadSource::kMemory ? idle_memory_[place.shard] : idle_[place.shard];
  }

  std::mutex mutex_;
  // By shard; guarded by mutex_.
  std::vector<std::vector<Cursors>> idle_;
  std::vector<std::vector<Cursors>> idle_memory_;
};

// A shard as one query sees it.
class ShardView {
 public:
  ShardView(std::shared_ptr<Snapshot> snapshot, std::uint32_t shard, ReadSource from);
  ~ShardView();
  ShardView(const ShardView&) = delete;

  [[nodiscard]] const FlushMark& mark() const { return snapshot_->mark; }
  // Empty if all data of the slot in this period is sealed and has summaries.
  [[nodiscard]] UnsealedRange unsealed(std::uint32_t slot, std::uint32_t period) const;
  [[nodiscard]] Cursor& chunks();  // includes late cells
  [[nodiscard]] Cursor& late();    // late cells only
  [[nodiscard]] Cursor& summaries();
  [[nodiscard]] chunk::Decoder& decoder();
  // For damage that a cursor's status() has not noted already.
  void note_damage(const Error& error) const { snapshot_->note_damage(error); }
  [[nodiscard]] std::map<std::uint32_t, std::int64_t> known_slots() const {
    return snapshot_->known_slots(place_.shard);
  }

 private:
  const std::shared_ptr<Snapshot> snapshot_;
  const Snapshot::CursorKind place_;
  Snapshot::Cursors cursors_;
};

}  // namespace halite::storage::engine
