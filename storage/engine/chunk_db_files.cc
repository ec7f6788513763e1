// What ChunkDb does with whole files: merging them, removing them, counting them.
#include <utility>

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/write_batch.h>

#include "storage/engine/chunk_db.h"
#include "storage/engine/chunk_state.h"
#include "storage/files/files.h"
#include "storage/rocks/status.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

Result<void> ChunkDb::compact_family(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                     BytesView end) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  options.canceled = &stop_merging_;
  const rocksdb::Slice from = slice(begin);
  const rocksdb::Slice to = slice(end);
  const rocksdb::Status status = db_->CompactRange(options, family, &from, &to);
  if (stop_merging_ && status.IsIncomplete()) {
    return fail(Errc::kUnavailable, "the store is closed");
  }
  const Result<void> merged = checked(status, "cannot merge files of " + options_.dir);
  if (!merged) options_.damage->note(merged.error());
  return merged;
}

// As far as that can be read.
Result<void> ChunkDb::compact_undamaged(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                        BytesView end, bool& damaged) {
  Result<void> merged = compact_family(family, begin, end);
  if (merged || merged.error().code != Errc::kCorruption) return merged;
  damaged = true;
  return {};
}

Result<bool> ChunkDb::compact(BytesView begin, BytesView end) {
  bool damaged = false;
  TRY_VOID(compact_undamaged(chunks_, begin, end, damaged));
  TRY_VOID(compact_undamaged(summaries_, begin, end, damaged));
  TRY_VOID(renew_snapshot());  // so that the files merged can go
  return !damaged;
}

Result<void> ChunkDb::merge_late() {
  if (count_files(late_) == 0) return {};
  bool damaged = false;
  TRY_VOID(compact_undamaged(late_, BytesView("\0", 1), Bytes(64, '\xFF'), damaged));
  return renew_snapshot();
}

std::set<Place> ChunkDb::places_to_merge(const MergeRule& rule) const {
  std::set<Place> wanted = engine::places_to_merge(*db_, chunks_, *unsealed(), rule);
  for (const Place& place : unmergeable_) wanted.erase(place);
  return wanted;
}

Result<void> ChunkDb::merge_place(const Place& place) {
  const Bytes begin = place_prefix(place);
  const Bytes end = prefix_end(begin);
  TRY(const bool merged, compact(begin, end.empty() ? Bytes(64, '\xFF') : end));
  if (!merged) unmergeable_.insert(place);
  return {};
}

// By a file, as all that comes into that family: RocksDB merges its files by age, which those of
// what is written otherwise would not have in the order in which they came.
Result<void> ChunkDb::drop_late(BytesView begin, BytesView end) {
  TRY(std::unique_ptr<ChunkFile> file, new_file(FileFor::kLate));
  const std::unique_ptr<Cursor> late = late_cells(begin, end);
  for (late->seek(begin); late->valid(); late->next()) TRY_VOID(file->remove(late->key()));
  TRY_VOID(late->status());
  if (file->entries() == 0) return {};
  std::vector<std::unique_ptr<ChunkFile>> files;
  files.push_back(std::move(file));
  return ingest(std::move(files), mark(), {});
}

Result<void> ChunkDb::drop(BytesView begin, BytesView end) {
  TRY_VOID(drop_late(begin, end));
  const rocksdb::Slice from = slice(begin);
  const rocksdb::Slice to = slice(end);
  rocksdb::WriteBatch batch;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, summaries_}) {
    // Whole files go at once; what is left at their borders is marked, and goes with a compaction.
    TRY_VOID(checked(rocksdb::DeleteFilesInRange(db_.get(), family, &from, &to, false),
                     "cannot remove files of " + options_.dir));
    TRY_VOID(checked(batch.DeleteRange(family, from, to), "cannot remove chunks"));
  }
  auto unsealed = std::make_shared<UnsealedSlots>();
  for (const auto& [lap, what] : *this->unsealed()) {
    const Bytes place = place_prefix({.shard = lap.shard, .slot = lap.slot});
    if (place < begin || place >= end) {
      unsealed->emplace(lap, what);
    } else {
      TRY_VOID(checked(batch.Delete(state_, slice(unsealed_key(lap))), "cannot remove chunks"));
    }
  }
  rocksdb::WriteOptions lasting;
  lasting.sync = true;
  TRY_VOID(checked(db_->Write(lasting, &batch), "cannot remove chunks of " + options_.dir));
  {
    const std::lock_guard lock(mutex_);
    unsealed_ = std::move(unsealed);
  }
  TRY_VOID(renew_snapshot());  // what the old one sees would be kept
  // What is damaged stays on the disk, and is not seen any more.
  TRY([[maybe_unused]] const bool merged, compact(begin, end));
  return {};
}

std::uint64_t ChunkDb::count_files(rocksdb::ColumnFamilyHandle* family) const {
  std::string files;
  std::uint64_t count = 0;
  for (int level = 0; level < db_->NumberLevels(family); ++level) {
    db_->GetProperty(family, fmt::format("rocksdb.num-files-at-level{}", level), &files);
    count += std::stoull(files);
  }
  return count;
}

std::set<std::string> ChunkDb::file_names() const {
  std::vector<rocksdb::LiveFileMetaData> live;
  db_->GetLiveFilesMetaData(&live);
  std::set<std::string> names;
  for (const rocksdb::LiveFileMetaData& file : live) names.insert(name_of(file.name));
  return names;
}

std::uint64_t ChunkDb::files() const { return count_files(chunks_) + count_files(late_); }

std::uint64_t ChunkDb::bytes() const {
  std::uint64_t bytes = 0;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, late_, summaries_}) {
    std::uint64_t of_family = 0;
    db_->GetIntProperty(family, rocksdb::DB::Properties::kLiveSstFilesSize, &of_family);
    bytes += of_family;
  }
  return bytes;
}

FileBytes ChunkDb::written() const {
  return {.flushed = written_->flushed,
          .sealed = written_->sealed,
          .merged = written_->merged,
          .marks = written_->marks};
}

}  // namespace halite::storage::engine
