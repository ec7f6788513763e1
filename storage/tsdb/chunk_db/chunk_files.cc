#include "storage/tsdb/chunk_db/chunk_files.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include "common/log.h"
#include "common/threads/thread_name.h"
#include "storage/backends/rocks/files/status.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

constexpr std::chrono::milliseconds kMeanwhile{20};

rocksdb::IngestExternalFileArg taken_into(rocksdb::ColumnFamilyHandle* family) {
  rocksdb::IngestExternalFileArg arg;
  arg.column_family = family;
  arg.options.move_files = true;
  // Otherwise a retry could not ingest the file of a failed attempt.
  arg.options.write_global_seqno = false;
  return arg;
}

// For a file written while its slot was sealed: its cells are late by now, but among the sealed
// ones. Marks the whole slot for sealing.
void unmark_late(const SstFile& file, UnsealedRanges& lines) {
  for (const Partition& partition : file.not_late()) {
    if (const auto line = lines.find(partition); line != lines.end()) line->second.late = false;
  }
}

// The files of a slot. Of a file for several slots, each slot has an equal share of the bytes.
struct SlotFiles {
  std::uint64_t fresh = 0;  // files above the compacted ones, for this slot alone
  std::uint64_t fresh_bytes = 0;
  std::uint64_t shared = 0;  // likewise, for several slots
  std::uint64_t shared_bytes = 0;
  std::uint64_t merged_bytes = 0;

  [[nodiscard]] bool reaches(const CompactionRule& rule) const {
    if (fresh > 0 &&
        (fresh >= rule.fresh_files || fresh_bytes * 100 >= merged_bytes * rule.fresh_percent)) {
      return true;
    }
    return shared >= rule.shared_files_max ||
           (shared >= rule.shared_files &&
            shared_bytes * 100 >= merged_bytes * rule.shared_percent);
  }
};

// A file of the chunks of several slots of a shard.
struct SharedFile {
  ShardSlot first;
  ShardSlot last;
  std::uint64_t bytes = 0;  // of one slot
  bool merged = false;
};

void add_shared(const SharedFile& file, std::map<ShardSlot, SlotFiles>& shard_slots) {
  const auto end = shard_slots.upper_bound(file.last);
  for (auto at = shard_slots.lower_bound(file.first); at != end; ++at) {
    SlotFiles& files = at->second;
    if (file.merged) {
      files.merged_bytes += file.bytes;
    } else {
      ++files.shared;
      files.shared_bytes += file.bytes;
    }
  }
}

std::optional<ShardSlot> shard_slot_of(const std::string& key) {
  if (key.size() < kShardSlotBytes) return std::nullopt;
  return ShardSlot{.shard = load_be<std::uint8_t>(key.data()),
                   .slot = load_be<std::uint32_t>(key.data() + 1)};
}

// Slots with something to seal first.
std::set<ShardSlot> unsealed_slots(const UnsealedRanges& lines) {
  std::set<ShardSlot> shard_slots;
  for (const auto& [partition, what] : lines) {
    const bool sealed_early = what.begin_ms >= what.end_ms && !what.without_summary;
    if (!what.late && !sealed_early)
      shard_slots.insert({.shard = partition.shard, .slot = partition.slot});
  }
  return shard_slots;
}

}  // namespace

Result<std::unique_ptr<SstFile>> ChunkFiles::make_file(FilePurpose purpose) {
  SstFile::IsLate late;
  if (purpose == FilePurpose::kFlushed)
    late = [this](const Partition& partition) { return states_.is_late(partition); };
  rocksdb::Options options = tables_.file_options();
  if (purpose == FilePurpose::kSummaries) options.compression_opts = {};
  auto file = std::make_unique<SstFile>(
      options, fmt::format("{}/{:08}{}", tables_.dir(), ++next_file_, kUnfinished), purpose,
      std::move(late));
  TRY_VOID(file->open());
  return file;
}

Result<std::unique_ptr<ChunkFile>> ChunkFiles::new_file(FilePurpose purpose) {
  return make_file(purpose);
}

// Adds one file with the late cells that all files collected.
Result<void> ChunkFiles::add_late_file(std::vector<std::unique_ptr<ChunkFile>>& files) {
  std::vector<SstFile::LateCell> cells;
  for (const auto& file : files) {
    std::ranges::move(static_cast<SstFile&>(*file).late(), std::back_inserter(cells));
  }
  if (cells.empty()) return {};
  std::ranges::sort(cells, {}, &SstFile::LateCell::key);
  TRY(std::unique_ptr<SstFile> late, make_file(FilePurpose::kLate));
  for (const SstFile::LateCell& cell : cells) TRY_VOID(late->put(cell.key, cell.value));
  files.push_back(std::move(late));
  return {};
}

rocksdb::ColumnFamilyHandle* ChunkFiles::family_of(FilePurpose purpose) const {
  switch (purpose) {
    case FilePurpose::kFlushed:
    case FilePurpose::kSealed:
      return tables_.chunks();
    case FilePurpose::kLate:
      return tables_.late();
    case FilePurpose::kSummaries:
      return tables_.summaries();
    case FilePurpose::kState:
      return tables_.state();
  }
  std::unreachable();
}

// RocksDB makes one family visible after the other. The state comes last, so that the mark is
// visible only with everything else. Late files, which remove cells, come after the chunks that
// contain these cells.
Result<void> ChunkFiles::take(std::span<const std::unique_ptr<SstFile>> files) {
  std::vector<rocksdb::IngestExternalFileArg> all;
  for (rocksdb::ColumnFamilyHandle* const family :
       {tables_.chunks(), tables_.late(), tables_.summaries(), tables_.state()}) {
    rocksdb::IngestExternalFileArg into = taken_into(family);
    for (const auto& file : files) {
      if (family_of(file->purpose()) == family) into.external_files.push_back(file->path());
    }
    if (!into.external_files.empty()) all.push_back(std::move(into));
  }
  if (tables_.writes_stopped()) {
    return fail(
        Errc::kUnavailable,
        fmt::format("{} accepts no files until a failed write has succeeded", tables_.dir()));
  }
  TRY_VOID(
      checked(tables_.db().IngestExternalFiles(all), "cannot ingest files into " + tables_.dir()));
  for (const auto& file : files) file->taken();
  return {};
}

// RocksDB reads its files to find the lowest level for new ones, and fails if one is damaged. New
// files go to the top level, for which it reads nothing, if they overlap one that goes there, too.
// That one goes there because it overlaps the newest file, which RocksDB looks at first. So this
// makes a newest file, by removing a key that no cell has, and the one that overlaps all.
Result<void> ChunkFiles::take_on_top(SstFiles files) {
  std::set<rocksdb::ColumnFamilyHandle*> seen;
  SstFiles all;
  for (auto& file : files) {
    rocksdb::ColumnFamilyHandle* const family = family_of(file->purpose());
    if (seen.insert(family).second) {
      const Bytes& first = file->first_key();
      const Bytes no_cell = first.substr(0, std::min(kShardSlotBytes, first.size() - 1));
      TRY_VOID(tables_.remove_and_flush(family, no_cell));
      TRY(std::unique_ptr<SstFile> below, make_file(file->purpose()));
      TRY_VOID(below->remove(no_cell));
      TRY_VOID(below->remove(first));
      TRY_VOID(below->finish());
      all.push_back(std::move(below));
    }
    all.push_back(std::move(file));
  }
  return take(all);
}

// A compaction that failed because of damage fails again, and RocksDB would retry forever.
Result<void> ChunkFiles::stop_automatic_merges() {
  for (rocksdb::ColumnFamilyHandle* const family : {tables_.late(), tables_.state()}) {
    TRY_VOID(checked(tables_.db().SetOptions(family, {{"disable_auto_compactions", "true"}}),
                     "cannot stop compacting files of " + tables_.dir()));
  }
  log::error("automatic compaction of {} is off until the next start", tables_.dir());
  return {};
}

// Syncs the files. Returns the bytes of files with cells.
Result<std::uint64_t> ChunkFiles::finish(const SstFiles& files) {
  std::uint64_t bytes = 0;
  for (const auto& file : files) {
    TRY_VOID(file->finish());
    if (file->purpose() == FilePurpose::kState) {
      tables_.counted().marks += file->bytes();
    } else {
      bytes += file->bytes();
    }
  }
  return bytes;
}

Result<void> ChunkFiles::ingest(std::vector<std::unique_ptr<ChunkFile>> files,
                                const FlushMark& mark, const SlotChanges& changes) {
  if (tables_.damage().take_failed_compaction()) TRY_VOID(stop_automatic_merges());
  UnsealedRanges lines = states_.after(changes);
  for (const auto& file : files) unmark_late(static_cast<const SstFile&>(*file), lines);
  TRY_VOID(add_late_file(files));
  SstFiles wanted;
  for (auto& file : files) {
    if (file->entries() > 0) wanted.emplace_back(static_cast<SstFile*>(file.release()));
  }
  TRY(std::unique_ptr<SstFile> state, make_file(FilePurpose::kState));
  TRY_VOID(SlotStates::write(mark, changes, lines, *state));
  wanted.push_back(std::move(state));
  TRY(const std::uint64_t bytes, finish(wanted));
  Result<void> taken = take(wanted);
  if (!taken) {
    if (taken.error().code != Errc::kCorruption) return taken;
    tables_.damage().note(taken.error());
    TRY_VOID(take_on_top(std::move(wanted)));
  }
  (changes.sealing ? tables_.counted().sealed : tables_.counted().flushed) += bytes;
  states_.set(mark, std::move(lines));
  return views_.renew();
}

// False: `yield` ended it.
Result<bool> ChunkFiles::merge_family(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                      BytesView end, const YieldFn& yield) {
  std::atomic<bool> ends = false;
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  options.canceled = &ends;
  std::future<rocksdb::Status> merging = std::async(std::launch::async, [&] {
    name_this_thread("merge");
    const rocksdb::Slice from = begin;
    const rocksdb::Slice to = end;
    return tables_.db().CompactRange(options, family, &from, &to);
  });
  Result<bool> keep_going = true;
  while (merging.wait_for(kMeanwhile) != std::future_status::ready) {
    if (compactions_stopped_) ends = true;
    if (ends || !yield) continue;
    keep_going = yield();
    ends = !keep_going || !*keep_going;
  }
  const rocksdb::Status status = merging.get();
  if (ends && status.IsIncomplete()) {
    if (compactions_stopped_) return fail(Errc::kUnavailable, "the store is closed");
    return keep_going;
  }
  const Result<void> merged = checked(status, "cannot compact files of " + tables_.dir());
  if (!merged) {
    tables_.damage().note(merged.error());
    return std::unexpected(merged.error());
  }
  return keep_going;
}

// Compacts the files that can be read.
Result<ChunkFiles::CompactionOutcome> ChunkFiles::merge_undamaged(
    rocksdb::ColumnFamilyHandle* family, BytesView begin, BytesView end, const YieldFn& yield) {
  const Result<bool> merged = merge_family(family, begin, end, yield);
  if (merged) return *merged ? CompactionOutcome::kAll : CompactionOutcome::kEarly;
  if (merged.error().code != Errc::kCorruption) return std::unexpected(merged.error());
  return CompactionOutcome::kUndamaged;
}

Result<ChunkFiles::CompactionOutcome> ChunkFiles::merge(BytesView begin, BytesView end,
                                                        const YieldFn& yield) {
  TRY(CompactionOutcome merged, merge_undamaged(tables_.chunks(), begin, end, yield));
  if (merged != CompactionOutcome::kEarly) {
    TRY(const CompactionOutcome also, merge_undamaged(tables_.summaries(), begin, end, yield));
    merged = std::max(merged, also);
  }
  TRY_VOID(views_.renew());  // lets go of the compacted files
  return merged;
}

Result<void> ChunkFiles::compact_late(const YieldFn& yield) {
  TRY(const std::uint64_t late_files, tables_.count_files(tables_.late()));
  if (late_files == 0) return {};
  TRY_VOID(merge_undamaged(tables_.late(), BytesView("\0", 1), Bytes(64, '\xFF'), yield));
  return views_.renew();
}

// A compaction rewrites a whole slot, so it waits until there are enough files above the compacted
// ones.
std::map<ShardSlot, bool> ChunkFiles::slots_to_compact(const CompactionRule& rule) const {
  rocksdb::ColumnFamilyMetaData meta;
  tables_.db().GetColumnFamilyMetaData(tables_.chunks(), &meta);
  std::map<ShardSlot, SlotFiles> shard_slots;  // at least the first and the last one of each file
  std::vector<SharedFile> shared;
  for (const rocksdb::LevelMetaData& level : meta.levels) {
    const bool merged = level.level > 0;
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const std::optional<ShardSlot> first = shard_slot_of(file.smallestkey);
      const std::optional<ShardSlot> last = shard_slot_of(file.largestkey);
      if (!first || !last || first->shard != last->shard) continue;
      SlotFiles& files = shard_slots[*first];
      if (*first != *last) {
        shard_slots.try_emplace(*last);
        const std::uint64_t slots = std::uint64_t{last->slot} - first->slot + 1;
        shared.push_back(
            {.first = *first, .last = *last, .bytes = file.size / slots, .merged = merged});
      } else if (merged) {
        files.merged_bytes += file.size;
      } else {
        ++files.fresh;
        files.fresh_bytes += file.size;
      }
    }
  }
  for (const SharedFile& file : shared) add_shared(file, shard_slots);
  const std::set<ShardSlot> unsealed = unsealed_slots(*states_.unsealed());
  std::map<ShardSlot, bool> wanted;
  for (const auto& [shard_slot, files] : shard_slots) {
    if (!files.reaches(rule) || unsealed.contains(shard_slot)) continue;
    wanted.emplace(shard_slot, files.shared > 0);
  }
  for (const ShardSlot& shard_slot : uncompactable_) wanted.erase(shard_slot);
  return wanted;
}

Result<bool> ChunkFiles::compact_slot(const ShardSlot& shard_slot, const YieldFn& yield) {
  if (uncompactable_.contains(shard_slot)) return true;
  const Bytes begin = shard_slot_prefix(shard_slot);
  const Bytes end = prefix_end(begin);
  TRY(const CompactionOutcome merged, merge(begin, end.empty() ? Bytes(64, '\xFF') : end, yield));
  if (merged == CompactionOutcome::kUndamaged) uncompactable_.insert(shard_slot);
  return merged != CompactionOutcome::kEarly;
}

// Writes a file that removes the readable keys of [begin, end) in the family.
Result<std::unique_ptr<ChunkFile>> ChunkFiles::removals(FilePurpose purpose, BytesView begin,
                                                        BytesView end, const YieldFn& yield) {
  TRY(std::unique_ptr<ChunkFile> file, new_file(purpose));
  const std::unique_ptr<Cursor> held = tables_.cells(family_of(purpose), begin, end);
  Cursor& cursor = *held;
  Bytes from(begin);
  for (cursor.seek(from);; cursor.next()) {
    TRY(const bool more, cursor.skip_damage(from));
    if (!more) return file;
    TRY_VOID(yield_or_stop(yield));
    TRY_VOID(file->remove(cursor.key()));
    from = cursor.key();
  }
}

// Removes whole files first, then the keys in files across the borders one by one; a compaction
// drops these. Does not use range deletions: RocksDB 7.8 aborts if it compacts only those and the
// disk fails meanwhile.
Result<void> ChunkFiles::drop(BytesView begin, BytesView end, const YieldFn& yield) {
  const std::shared_ptr<const UnsealedRanges> before = states_.unsealed();
  const rocksdb::Slice from = begin;
  const rocksdb::Slice to = end;
  for (rocksdb::ColumnFamilyHandle* const family : {tables_.chunks(), tables_.summaries()}) {
    TRY_VOID(checked(rocksdb::DeleteFilesInRange(&tables_.db(), family, &from, &to, false),
                     "cannot remove files of " + tables_.dir()));
  }
  std::vector<std::unique_ptr<ChunkFile>> files;
  for (const FilePurpose purpose :
       {FilePurpose::kSealed, FilePurpose::kLate, FilePurpose::kSummaries}) {
    TRY(std::unique_ptr<ChunkFile> file, removals(purpose, begin, end, yield));
    files.push_back(std::move(file));
  }
  SlotChanges changes;
  for (const auto& [partition, what] : *states_.unsealed()) {
    const Bytes shard_slot = shard_slot_prefix({.shard = partition.shard, .slot = partition.slot});
    if (shard_slot < begin || shard_slot >= end) continue;
    const auto line = before->find(partition);
    const bool same = line != before->end() && line->second.touches == what.touches;
    if (same) changes.sealed.push_back(partition);  // otherwise data arrived meanwhile
  }
  TRY_VOID(ingest(std::move(files), states_.mark(), changes));
  // Damaged files stay on the disk, but no reader sees them any more.
  TRY_VOID(merge(begin, end, yield));
  return {};
}

}  // namespace halite::storage::engine
