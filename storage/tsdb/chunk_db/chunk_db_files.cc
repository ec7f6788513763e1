// What ChunkDb does with whole files: merging them, removing them, counting them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include "common/config_value.h"
#include "common/thread_name.h"
#include "storage/backends/rocks/files/checkpoint.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/files/files.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/chunk_db/chunk_db.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

constexpr std::chrono::milliseconds kMeanwhile{20};

}  // namespace

// False: `meanwhile` ended it.
Result<bool> ChunkDb::compact_family(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                     BytesView end, const Meanwhile& meanwhile) {
  std::atomic<bool> ends = false;
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  options.canceled = &ends;
  std::future<rocksdb::Status> merging = std::async(std::launch::async, [&] {
    name_this_thread("merge");
    const rocksdb::Slice from = begin;
    const rocksdb::Slice to = end;
    return db_->CompactRange(options, family, &from, &to);
  });
  Result<bool> go_on = true;
  while (merging.wait_for(kMeanwhile) != std::future_status::ready) {
    if (stop_merging_) ends = true;
    if (ends || !meanwhile) continue;
    go_on = meanwhile();
    ends = !go_on || !*go_on;
  }
  const rocksdb::Status status = merging.get();
  if (ends && status.IsIncomplete()) {
    if (stop_merging_) return fail(Errc::kUnavailable, "the store is closed");
    return go_on;
  }
  const Result<void> merged = checked(status, "cannot compact files of " + options_.dir);
  if (!merged) {
    options_.damage->note(merged.error());
    return std::unexpected(merged.error());
  }
  return go_on;
}

// As far as that can be read.
Result<ChunkDb::Merged> ChunkDb::compact_undamaged(rocksdb::ColumnFamilyHandle* family,
                                                   BytesView begin, BytesView end,
                                                   const Meanwhile& meanwhile) {
  const Result<bool> merged = compact_family(family, begin, end, meanwhile);
  if (merged) return *merged ? Merged::kAll : Merged::kEarly;
  if (merged.error().code != Errc::kCorruption) return std::unexpected(merged.error());
  return Merged::kUndamaged;
}

Result<ChunkDb::Merged> ChunkDb::compact(BytesView begin, BytesView end,
                                         const Meanwhile& meanwhile) {
  TRY(Merged merged, compact_undamaged(chunks_, begin, end, meanwhile));
  if (merged != Merged::kEarly) {
    TRY(const Merged also, compact_undamaged(summaries_, begin, end, meanwhile));
    merged = std::max(merged, also);
  }
  TRY_VOID(renew_snapshot());  // so that the files merged can go
  return merged;
}

Result<void> ChunkDb::merge_late(const Meanwhile& meanwhile) {
  TRY(const std::uint64_t late_files, count_files(late_));
  if (late_files == 0) return {};
  TRY_VOID(compact_undamaged(late_, BytesView("\0", 1), Bytes(64, '\xFF'), meanwhile));
  return renew_snapshot();
}

std::set<Place> ChunkDb::places_to_merge(const MergeRule& rule) const {
  std::set<Place> wanted = engine::places_to_merge(*db_, chunks_, *unsealed(), rule);
  for (const Place& place : unmergeable_) wanted.erase(place);
  return wanted;
}

Result<bool> ChunkDb::merge_place(const Place& place, const Meanwhile& meanwhile) {
  if (unmergeable_.contains(place)) return true;
  const Bytes begin = place_prefix(place);
  const Bytes end = prefix_end(begin);
  TRY(const Merged merged, compact(begin, end.empty() ? Bytes(64, '\xFF') : end, meanwhile));
  if (merged == Merged::kUndamaged) unmergeable_.insert(place);
  return merged != Merged::kEarly;
}

// A file that removes what can be read of [begin, end) in the family.
Result<std::unique_ptr<ChunkFile>> ChunkDb::removals(FileFor purpose, BytesView begin,
                                                     BytesView end, const Meanwhile& meanwhile) {
  TRY(std::unique_ptr<ChunkFile> file, new_file(purpose));
  Cursor cursor(*db_, over(family_of(purpose), nullptr), nullptr, Bytes(begin), Bytes(end),
                ReadSource::kDisk);
  Bytes from(begin);
  for (cursor.seek(from);; cursor.next()) {
    TRY(const bool more, cursor.pass_damage(from));
    if (!more) return file;
    TRY_VOID(go_on(meanwhile));
    TRY_VOID(file->remove(cursor.key()));
    from = cursor.key();
  }
}

// Whole files go at once; what is left at their borders is removed key by key, and goes with a
// merge. Not by a range: where RocksDB 7.8 merges nothing but removed ranges and the disk fails
// meanwhile, it aborts.
Result<void> ChunkDb::drop(BytesView begin, BytesView end, const Meanwhile& meanwhile) {
  const std::shared_ptr<const UnsealedSlots> before = unsealed();
  const rocksdb::Slice from = begin;
  const rocksdb::Slice to = end;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, summaries_}) {
    TRY_VOID(checked(rocksdb::DeleteFilesInRange(db_.get(), family, &from, &to, false),
                     "cannot remove files of " + options_.dir));
  }
  std::vector<std::unique_ptr<ChunkFile>> files;
  for (const FileFor purpose : {FileFor::kSealed, FileFor::kLate, FileFor::kSummaries}) {
    TRY(std::unique_ptr<ChunkFile> file, removals(purpose, begin, end, meanwhile));
    files.push_back(std::move(file));
  }
  Changes changes;
  for (const auto& [lap, what] : *unsealed()) {
    const Bytes place = place_prefix({.shard = lap.shard, .slot = lap.slot});
    if (place < begin || place >= end) continue;
    const auto line = before->find(lap);
    const bool same = line != before->end() && line->second.touches == what.touches;
    if (same) changes.sealed.push_back(lap);  // else something came meanwhile
  }
  TRY_VOID(ingest(std::move(files), mark(), changes));
  // What is damaged stays on the disk, and is not seen any more.
  TRY_VOID(compact(begin, end, meanwhile));
  return {};
}

Result<void> ChunkDb::snapshot(const std::string& dir) {
  const std::shared_ptr<FileSystem> files =
      options_.files != nullptr ? options_.files : posix_files();
  return rocks::make_checkpoint(*db_, *files, dir);
}

// Of the first levels.
Result<std::uint64_t> ChunkDb::count_files(rocksdb::ColumnFamilyHandle* family, int levels) const {
  std::uint64_t count = 0;
  for (int level = 0; level < levels; ++level) {
    const std::string property = fmt::format("rocksdb.num-files-at-level{}", level);
    std::string text;
    const bool has_it = db_->GetProperty(family, property, &text);
    const Result<std::int64_t> files = parse_count(text);
    if (!has_it || !files || *files < 0) {
      return fail(
          Errc::kInternal,
          fmt::format("{}: RocksDB returned \"{}\" for {} of {}, expected a number of files",
                      options_.dir, text, property, family->GetName()));
    }
    count += static_cast<std::uint64_t>(*files);
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

std::vector<FileExtent> ChunkDb::file_extents() const {
  std::vector<FileExtent> extents;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, late_, summaries_}) {
    const std::size_t tail = family == summaries_ ? kSummaryKeyBytes : kCellKeyBytes;
    const auto lap = [tail](BytesView key) {
      return SlotLap{.shard = load_be<std::uint8_t>(key.data()),
                     .slot = load_be<std::uint32_t>(key.data() + 1),
                     .generation = load_be<std::uint32_t>(key.data() + key.size() - tail)};
    };
    rocksdb::ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    for (const rocksdb::LevelMetaData& level : meta.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        const std::size_t shortest = std::min(file.smallestkey.size(), file.largestkey.size());
        if (shortest < kPlaceBytes + tail) continue;  // none of ours
        extents.push_back(
            {.first = lap(file.smallestkey), .last = lap(file.largestkey), .bytes = file.size});
      }
    }
  }
  return extents;
}

Result<std::uint64_t> ChunkDb::files() const {
  TRY(const std::uint64_t of_chunks, count_files(chunks_));
  TRY(const std::uint64_t of_late, count_files(late_));
  return of_chunks + of_late;
}

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
