// One state of the chunks' database, as all questions share it until the next one: the mark of the
// last flush, what is not sealed, and cursors that one question after the other uses again. A
// cursor has all files open that lie above the merged ones: where these are too many it goes with
// its question.
//
//   Threads  any call from any thread; a cursor is for one at a time.
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
    Damage* damage = nullptr;  // told of what cannot be read
  };
  // Of the database as it is now; it outlives the snapshot. Cursors are used again if told so.
  Snapshot(rocksdb::DB& db, Families families, bool keeps_cursors);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  [[nodiscard]] const rocksdb::Snapshot* id() const { return snapshot_; }

  // To be set by its maker before others see it.
  FlushMark mark;
  std::shared_ptr<const UnsealedRanges> unsealed;

  // Cursors are null until somebody needs one.
  struct Cursors {
    std::unique_ptr<Cursor> chunks;
    std::unique_ptr<Cursor> late;
    std::unique_ptr<Cursor> summaries;
    std::unique_ptr<chunk::Decoder> decoder;  // whose memory is of use again, too
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
  // Slots of a shard, and a generation of each: those that are not sealed, and those that files
  // are of. Reads no file.
  [[nodiscard]] std::map<std::uint32_t, std::int64_t> known_slots(std::uint32_t shard) const;
  void note_damage(const Error& error) const {
    if (families_.damage != nullptr) families_.damage->note(error);
  }

 private:
  [[nodiscard]] std::unique_ptr<Cursor> cursor(Cursor::CursorFamilies cursor_families,
                                               CursorKind place) const;

  static constexpr std::size_t kShardsMax = 256;
  static constexpr std::size_t kIdleMax = 8;  // a shard, of either kind

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

// A shard as one question sees it.
class ShardView {
 public:
  ShardView(std::shared_ptr<Snapshot> snapshot, std::uint32_t shard, ReadSource from);
  ~ShardView();
  ShardView(const ShardView&) = delete;
  ShardView& operator=(const ShardView&) = delete;

  [[nodiscard]] const FlushMark& mark() const { return snapshot_->mark; }
  // Empty where all that the slot has in this lap is sealed and has summaries.
  [[nodiscard]] UnsealedRange unsealed(std::uint32_t slot, std::uint32_t period) const;
  [[nodiscard]] Cursor& chunks();  // late ones, too
  [[nodiscard]] Cursor& late();    // those alone
  [[nodiscard]] Cursor& summaries();
  [[nodiscard]] chunk::Decoder& decoder();
  // A cursor's status() does it by itself.
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
