// The unsealed ranges of slots, and the flush mark.
//
// The database stores both in its state family. They change only together with the files that
// ChunkFiles ingests. A slot without an entry here is sealed and has summaries.
//
//   Threads  call from any thread, but load() and set() from one at a time. All block.
//   Errors   kUnavailable with RocksDB's text; kCorruption for an invalid state.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_tables.h"
#include "storage/tsdb/chunk_db/tables/chunk_file.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"

namespace halite::storage::engine {

// How an ingest changes slots.
struct SlotChanges {
  UnsealedRanges touched;                  // by chunks or tombstones in the files
  std::vector<Partition> sealed;           // completely, with summaries
  std::vector<Partition> sealed_early;     // likewise, but later points for them are not late data
  std::vector<Partition> sealed_directly;  // chunks with summaries of series without other cells
  bool sealing = false;  // the files come from sealing, not from a flush or a delete
};

class SlotStates {
 public:
  explicit SlotStates(ChunkTables& tables) : tables_(tables) {}

  // Reads the stored state. If it is damaged: with options.read_only, mark() has the unknown
  // position and unsealed() may lack slots; with options.strict, fails; otherwise rebuilds the
  // state from the keys of all cells.
  Result<void> load();

  // The mark and the unsealed ranges of one moment.
  struct Current {
    FlushMark mark;
    std::shared_ptr<const UnsealedRanges> unsealed;  // never null
  };
  [[nodiscard]] Current current() const;
  [[nodiscard]] FlushMark mark() const { return current().mark; }
  [[nodiscard]] std::shared_ptr<const UnsealedRanges> unsealed() const {
    return current().unsealed;
  }
  // The mark in the database: ahead of mark() while files are ingested.
  [[nodiscard]] Result<FlushMark> stored_mark() const;

  // Whether new cells for the partition are late: it is sealed, or has only had late cells since.
  [[nodiscard]] bool is_late(const Partition& partition);

  // unsealed() after these changes.
  [[nodiscard]] UnsealedRanges after(const SlotChanges& changes);
  // Writes the changed entries into a file for the state family.
  static Result<void> write(const FlushMark& mark, const SlotChanges& changes,
                            const UnsealedRanges& after, ChunkFile& file);
  // Call it when that file is ingested.
  void set(const FlushMark& mark, UnsealedRanges unsealed);

  // Reads and stores a time or another number by name; nothing if none is stored.
  [[nodiscard]] Result<std::optional<std::int64_t>> read_number(BytesView name) const;
  Result<void> note_number(BytesView name, std::int64_t number);

 private:
  struct State {
    FlushMark mark;
    UnsealedRanges unsealed;
  };
  Result<void> read();
  Result<void> choose_family();
  [[nodiscard]] Result<UnsealedRanges> read_unsealed() const;
  Result<void> require_summaries(UnsealedRanges& unsealed);
  Result<void> rebuild();
  Result<void> add_family();
  [[nodiscard]] Result<State> state_of_cells() const;
  [[nodiscard]] Result<std::map<Bytes, Bytes>> readable_numbers() const;
  [[nodiscard]] Result<void> wrote(const rocksdb::Status& status) const;

  ChunkTables& tables_;
  std::mutex late_mutex_;
  std::map<Partition, bool>
      late_partitions_;  // results of is_late() since the last set(); guarded by late_mutex_
  mutable std::mutex mutex_;
  FlushMark mark_;  // guarded by mutex_
  // Never null; guarded by mutex_.
  std::shared_ptr<const UnsealedRanges> unsealed_ = std::make_shared<const UnsealedRanges>();
};

}  // namespace halite::storage::engine
