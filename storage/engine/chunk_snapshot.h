// One state of the chunks' database, as all questions share it until the next one: the mark of the
// last flush, what is not sealed, and cursors that one question after the other uses again.
//
//   Threads  any call from any thread; a cursor is for one at a time.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <rocksdb/db.h>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/chunk/chunk.h"

namespace halite::storage::engine {

// What of the log is in chunks.
struct FlushMark {
  std::uint64_t flush_number = 0;  // the greatest used
  std::uint64_t log_position = 0;  // records up to here, this one included
  bool operator==(const FlushMark&) const = default;
};

// One lap of a slot in a shard.
struct SlotLap {
  std::uint32_t shard = 0;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  auto operator<=>(const SlotLap&) const = default;
};

// Times in a slot, ms since its begin, in which chunks or tombstones came since it was sealed.
// Summaries say nothing about them.
struct Unsealed {
  std::uint32_t begin_ms = 0;
  std::uint32_t end_ms = 0;      // excluded
  bool without_summary = false;  // some series have sealed chunks, but no summary

  void add(const Unsealed& more);
  bool operator==(const Unsealed&) const = default;
};
using UnsealedSlots = std::map<SlotLap, Unsealed>;

// May a cursor wait for a disk? From memory alone what is not there is kUnavailable.
enum class ReadFrom : std::uint8_t { kDisk, kMemory };

// Walks the keys of [begin, end).
class Cursor {
 public:
  Cursor(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const rocksdb::Snapshot* snapshot,
         Bytes begin, Bytes end, ReadFrom from = ReadFrom::kDisk);
  Cursor(const Cursor&) = delete;  // RocksDB points into it
  Cursor& operator=(const Cursor&) = delete;

  // At the first key not below `key`.
  void seek(BytesView key);
  void next();
  // As seek(), quicker where the key is often close behind the one that it was sent to before.
  void advance(BytesView key);
  // What comes has nothing to do with what came.
  void forget() { sought_.clear(); }
  [[nodiscard]] bool valid() const;
  [[nodiscard]] BytesView key() const;
  [[nodiscard]] BytesView value() const;  // alive until the cursor moves
  [[nodiscard]] Result<void> status() const;

 private:
  const Bytes begin_;
  const Bytes end_;
  const rocksdb::Slice lower_;
  const rocksdb::Slice upper_;
  Bytes sought_;  // what advance() went to last; empty = nowhere
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

class Snapshot {
 public:
  struct Families {
    rocksdb::ColumnFamilyHandle* chunks = nullptr;
    rocksdb::ColumnFamilyHandle* summaries = nullptr;
  };
  // Of the database as it is now; it outlives the snapshot.
  Snapshot(rocksdb::DB& db, Families families);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  [[nodiscard]] const rocksdb::Snapshot* id() const { return snapshot_; }

  // To be set by its maker before others see it.
  FlushMark mark;
  std::shared_ptr<const UnsealedSlots> unsealed;

  // Cursors are null until somebody needs one.
  struct Cursors {
    std::unique_ptr<Cursor> chunks;
    std::unique_ptr<Cursor> summaries;
    std::unique_ptr<chunk::Decoder> decoder;  // whose memory is of use again, too
  };
  struct Place {
    std::uint32_t shard = 0;
    ReadFrom from = ReadFrom::kDisk;
  };
  [[nodiscard]] Cursors take(Place place);
  void give_back(Place place, Cursors cursors);
  [[nodiscard]] std::unique_ptr<Cursor> chunk_cursor(Place place) const;
  [[nodiscard]] std::unique_ptr<Cursor> summary_cursor(Place place) const;

 private:
  static constexpr std::size_t kShardsMax = 256;
  static constexpr std::size_t kIdleMax = 8;  // a shard, of either kind

  rocksdb::DB& db_;
  const Families families_;
  const rocksdb::Snapshot* const snapshot_;
  [[nodiscard]] std::vector<Cursors>& idle(Place place) {
    return place.from == ReadFrom::kMemory ? idle_memory_[place.shard] : idle_[place.shard];
  }

  std::mutex mutex_;
  // By shard; guarded by mutex_.
  std::vector<std::vector<Cursors>> idle_;
  std::vector<std::vector<Cursors>> idle_memory_;
};

// A shard as one question sees it.
class ShardView {
 public:
  ShardView(std::shared_ptr<Snapshot> snapshot, std::uint32_t shard, ReadFrom from);
  ~ShardView();
  ShardView(const ShardView&) = delete;
  ShardView& operator=(const ShardView&) = delete;

  [[nodiscard]] const FlushMark& mark() const { return snapshot_->mark; }
  // Empty where all that the slot has in this lap is sealed and has summaries.
  [[nodiscard]] Unsealed unsealed(std::uint32_t slot, std::uint32_t generation) const;
  [[nodiscard]] Cursor& chunks();
  [[nodiscard]] Cursor& summaries();
  [[nodiscard]] chunk::Decoder& decoder();

 private:
  const std::shared_ptr<Snapshot> snapshot_;
  const Snapshot::Place place_;
  Snapshot::Cursors cursors_;
};

}  // namespace halite::storage::engine
