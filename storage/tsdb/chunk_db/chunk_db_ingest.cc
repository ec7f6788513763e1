// How files come into ChunkDb.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/chunk_db/chunk_state.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

rocksdb::IngestExternalFileArg taken_into(rocksdb::ColumnFamilyHandle* family) {
  rocksdb::IngestExternalFileArg arg;
  arg.column_family = family;
  arg.options.move_files = true;
  // Else a file of an attempt that failed could not be taken by the next.
  arg.options.write_global_seqno = false;
  return arg;
}

}  // namespace

Result<std::unique_ptr<SstFile>> ChunkDb::make_file(FileFor purpose) {
  SstFile::IsLate late;
  if (purpose == FileFor::kFlushed) late = [this](const SlotLap& lap) { return is_late(lap); };
  rocksdb::Options options = file_options_;
  if (purpose == FileFor::kSummaries) options.compression = rocksdb::kZSTD;
  auto file = std::make_unique<SstFile>(
      options, fmt::format("{}/{:08}{}", options_.dir, ++next_file_, kUnfinished), purpose,
      std::move(late));
  TRY_VOID(file->open());
  return file;
}

Result<std::unique_ptr<ChunkFile>> ChunkDb::new_file(FileFor purpose) { return make_file(purpose); }

// Whether what comes now for that lap is late: it is sealed, or has late cells only since it was.
bool ChunkDb::is_late(const SlotLap& lap) {
  const std::shared_ptr<const UnsealedSlots> lines = unsealed();
  if (const auto line = lines->find(lap); line != lines->end()) return line->second.late;
  const std::lock_guard lock(late_mutex_);
  if (const auto known = late_laps_.find(lap); known != late_laps_.end()) return known->second;
  // What has cells and no line is sealed. Where that cannot be read it is sealed once more, whole.
  const Bytes place = place_prefix({.shard = lap.shard, .slot = lap.slot});
  rocksdb::ReadOptions options;
  ignore_removed_ranges(options);
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, chunks_));
  at->Seek(place);
  bool late = false;
  if (at->Valid() && at->key().starts_with(place)) {
    late = lap_of(at->key().ToStringView()) == lap;
  }
  late_laps_.emplace(lap, late);
  return late;
}

UnsealedSlots ChunkDb::lines_after(std::span<const std::unique_ptr<ChunkFile>> files,
                                   const Changes& changes) {
  UnsealedSlots lines = *unsealed();
  for (const SlotLap& lap : changes.sealed) lines.erase(lap);
  for (const SlotLap& lap : changes.sealed_early) lines[lap] = {};
  for (const auto& [lap, what] : changes.touched) {
    const auto [line, fresh] = lines.try_emplace(lap);
    if (fresh) line->second.late = is_late(lap);
    line->second.add(what);
  }
  // A file that was written while its slot was sealed has cells among the sealed ones that are
  // late by now: all of the slot is sealed once more.
  for (const auto& file : files) {
    for (const SlotLap& lap : static_cast<const SstFile&>(*file).not_late()) {
      if (const auto line = lines.find(lap); line != lines.end()) line->second.late = false;
    }
  }
  return lines;
}

// A file of what the default family is to say from now on.
Result<std::unique_ptr<SstFile>> ChunkDb::write_state(const FlushMark& mark, const Changes& changes,
                                                      const UnsealedSlots& lines) {
  TRY(std::unique_ptr<SstFile> file, make_file(FileFor::kState));
  TRY_VOID(file->put(kStateKey, mark_bytes(mark)));
  std::set<SlotLap> changed(changes.sealed.begin(), changes.sealed.end());
  changed.insert(changes.sealed_early.begin(), changes.sealed_early.end());
  for (const auto& [lap, what] : changes.touched) changed.insert(lap);
  for (const SlotLap& lap : changed) {
    const auto line = lines.find(lap);
    TRY_VOID(line != lines.end() ? file->put(unsealed_key(lap), unsealed_bytes(line->second))
                                 : file->remove(unsealed_key(lap)));
  }
  return file;
}

// What came late, of all files, as one more.
Result<void> ChunkDb::add_late_file(std::vector<std::unique_ptr<ChunkFile>>& files) {
  std::vector<SstFile::LateCell> cells;
  for (const auto& file : files) {
    std::ranges::move(static_cast<SstFile&>(*file).late(), std::back_inserter(cells));
  }
  if (cells.empty()) return {};
  std::ranges::sort(cells, {}, &SstFile::LateCell::key);
  TRY(std::unique_ptr<SstFile> late, make_file(FileFor::kLate));
  for (const SstFile::LateCell& cell : cells) TRY_VOID(late->put(cell.key, cell.value));
  files.push_back(std::move(late));
  return {};
}

rocksdb::ColumnFamilyHandle* ChunkDb::family_of(FileFor purpose) const {
  switch (purpose) {
    case FileFor::kFlushed:
    case FileFor::kSealed:
      return chunks_;
    case FileFor::kLate:
      return late_;
    case FileFor::kSummaries:
      return summaries_;
    case FileFor::kState:
      return state_;
  }
  std::unreachable();
}

// RocksDB shows one family after the other. The state last: who sees the mark must see the rest;
// and late ones, which sealing removes, behind what it made of them.
Result<void> ChunkDb::take_files(std::span<const std::unique_ptr<SstFile>> files) {
  std::vector<rocksdb::IngestExternalFileArg> all;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, late_, summaries_, state_}) {
    rocksdb::IngestExternalFileArg into = taken_into(family);
    for (const auto& file : files) {
      if (family_of(file->purpose()) == family) into.external_files.push_back(file->path());
    }
    if (!into.external_files.empty()) all.push_back(std::move(into));
  }
  if (listener_->stopped()) {
    return fail(
        Errc::kUnavailable,
        fmt::format("{} accepts no files until a failed write has succeeded", options_.dir));
  }
  TRY_VOID(checked(db_->IngestExternalFiles(all), "cannot ingest files into " + options_.dir));
  for (const auto& file : files) file->taken();
  return {};
}

// RocksDB looks into the files that it has for how far down new ones may go, and fails where one of
// those is damaged. It does not look where new files of a family overlap each other (there is
// always a snapshot): then all go on top. So each family's get one before them, of a key that they
// have, too.
Result<void> ChunkDb::take_files_on_top(std::vector<std::unique_ptr<SstFile>> files) {
  std::set<rocksdb::ColumnFamilyHandle*> seen;
  std::vector<std::unique_ptr<SstFile>> all;
  for (auto& file : files) {
    if (seen.insert(family_of(file->purpose())).second) {
      TRY(std::unique_ptr<SstFile> below, make_file(file->purpose()));
      TRY_VOID(below->remove(file->first_key()));
      TRY_VOID(below->finish());
      all.push_back(std::move(below));
    }
    all.push_back(std::move(file));
  }
  return take_files(all);
}

// A merge that fails because of damage fails again, and RocksDB tries for ever.
Result<void> ChunkDb::stop_merging_by_itself() {
  for (rocksdb::ColumnFamilyHandle* const family : {late_, state_}) {
    TRY_VOID(checked(db_->SetOptions(family, {{"disable_auto_compactions", "true"}}),
                     "cannot stop compacting files of " + options_.dir));
  }
  log::error("automatic compaction of {} is off until the next start", options_.dir);
  return {};
}

Result<void> ChunkDb::ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark,
                             const Changes& changes) {
  if (options_.damage->take_failed_merge()) TRY_VOID(stop_merging_by_itself());
  UnsealedSlots lines = lines_after(files, changes);
  TRY_VOID(add_late_file(files));
  std::vector<std::unique_ptr<SstFile>> wanted;
  for (auto& file : files) {
    if (file->entries() > 0) wanted.emplace_back(static_cast<SstFile*>(file.release()));
  }
  TRY(std::unique_ptr<SstFile> state, write_state(mark, changes, lines));
  wanted.push_back(std::move(state));
  std::uint64_t bytes = 0;
  for (const auto& file : wanted) {
    TRY_VOID(file->finish());
    if (file->purpose() == FileFor::kState) {
      written_->marks += file->bytes();
    } else {
      bytes += file->bytes();
    }
  }
  Result<void> taken = take_files(wanted);
  if (!taken) {
    if (taken.error().code != Errc::kCorruption) return taken;
    options_.damage->note(taken.error());
    TRY_VOID(take_files_on_top(std::move(wanted)));
  }
  (changes.sealing ? written_->sealed : written_->flushed) += bytes;
  {
    const std::lock_guard lock(late_mutex_);
    late_laps_.clear();
  }
  {
    const std::lock_guard lock(mutex_);
    mark_ = mark;
    unsealed_ = std::make_shared<const UnsealedSlots>(std::move(lines));
  }
  return renew_snapshot();
}

}  // namespace halite::storage::engine
