#include "storage/tsdb/chunk_db/chunk_tables.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include "common/config/config_value.h"
#include "common/log.h"
#include "storage/backends/rocks/files/block_cache.h"
#include "storage/backends/rocks/files/checkpoint.h"
#include "storage/backends/rocks/files/file_system.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/files/files.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

ChunkDbOptions complete(ChunkDbOptions options) {
  if (options.damage != nullptr) return options;
  struct Unseen {
    prometheus::Registry registry;
    Damage damage{registry};
  };
  auto unseen = std::make_shared<Unseen>();
  options.damage = std::shared_ptr<Damage>(unseen, &unseen->damage);
  return options;
}

}  // namespace

ChunkTables::ChunkTables(const ChunkDbOptions& options)
    : options_(complete(options)),
      env_(rocksdb::NewCompositeEnv(rocks::make_file_system(
          options.files != nullptr ? options.files : posix_files(), write_fence_))),
      listener_(std::make_shared<ChunkListener>(counted_, options_.damage)),
      block_cache_(rocksdb::NewLRUCache(options_.block_cache_bytes)),
      file_options_(chunk_db_options(options_, env_.get(), listener_), chunks_options(nullptr)) {
  file_options_.listeners.clear();
  file_options_.sst_partitioner_factory = nullptr;
}

Result<std::unique_ptr<ChunkTables>> ChunkTables::open(const ChunkDbOptions& options) {
  std::unique_ptr<ChunkTables> tables(new ChunkTables(options));
  TRY_VOID(tables->open_db());
  return tables;
}

Result<void> ChunkTables::open_db() {
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {std::string(kChunksFamily), chunks_options(block_cache_)},
      {std::string(kSummariesFamily), summaries_options(block_cache_)},
      {std::string(kLateFamily), late_options(options_, block_cache_)},
      {rocksdb::kDefaultColumnFamilyName, state_options(options_)}};
  rocksdb::DBOptions how = chunk_db_options(options_, env_.get(), listener_);
  std::vector<std::string> names;
  // If this fails there is no database yet, or opening it returns the reason.
  std::ignore = rocksdb::DB::ListColumnFamilies(how, options_.dir, &names);
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (name.starts_with(kStatePrefix)) families.emplace_back(name, state_options(options_));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  how.paranoid_checks = !options_.read_only;
  const auto open = [&] {
    return options_.read_only
               ? rocksdb::DB::OpenForReadOnly(how, options_.dir, families, &handles, &db)
               : rocksdb::DB::Open(how, options_.dir, families, &handles, &db);
  };
  rocksdb::Status status = open();
  const bool damaged = !status.ok() && how.paranoid_checks &&
                       rocks::error_of(status, "").code == Errc::kCorruption && !options_.strict;
  if (damaged) {
    // Files are missing or cannot be opened: open the database with the others.
    const std::string first = status.ToString();
    how.paranoid_checks = false;
    status = open();
    if (status.ok()) {
      log::error("{} was opened although files in it are damaged ({})", options_.dir, first);
    }
  }
  if (!status.ok()) {
    Error error = rocks::error_of(status, "cannot open " + options_.dir);
    if (error.code == Errc::kCorruption) {
      error.message +=
          ". Nothing was changed. Restore that directory from a copy, or move the data directory "
          "away to start with an empty one";
    }
    return std::unexpected(std::move(error));
  }
  db_.reset(db);
  chunks_ = handles[0];
  summaries_ = handles[1];
  late_ = handles[2];
  states_.assign(handles.begin() + 3, handles.end());
  if (damaged) note_damaged_files();
  return {};
}

// Notes files whose size is not the one that was written.
void ChunkTables::note_damaged_files() const {
  std::vector<rocksdb::LiveFileMetaData> live;
  db_->GetLiveFilesMetaData(&live);
  for (const rocksdb::LiveFileMetaData& file : live) {
    const std::string path = file.db_path + file.name;
    std::uint64_t bytes = 0;
    const rocksdb::Status status = env_->GetFileSize(path, &bytes);
    if (status.ok() && bytes == file.size) continue;
    const std::string found =
        status.ok() ? fmt::format("{} bytes", bytes) : "missing or not readable";
    options_.damage->note(
        {Errc::kCorruption,
         fmt::format("{} should have {} bytes, but is {}", path, file.size, found),
         {}});
  }
}

MemoryUser ChunkTables::memory_user() const {
  return rocks::block_cache_user("engine.block_cache_bytes", block_cache_);
}

Result<void> ChunkTables::close() {
  if (db_ == nullptr) return {};
  listener_->end(*write_fence_);
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  db_->DestroyColumnFamilyHandle(chunks_);
  db_->DestroyColumnFamilyHandle(late_);
  db_->DestroyColumnFamilyHandle(summaries_);
  for (rocksdb::ColumnFamilyHandle* const state : states_) db_->DestroyColumnFamilyHandle(state);
  Result<void> closed = checked(db_->Close(), "cannot close " + options_.dir);
  db_.reset();
  return closed;
}

ChunkTables::~ChunkTables() { std::ignore = close(); }

std::unique_ptr<Cursor> ChunkTables::points(BytesView begin, BytesView end) const {
  const Cursor::CursorFamilies cursor_families = {
      .family = chunks_, .late = late_, .damage = options_.damage.get()};
  return std::make_unique<Cursor>(*db_, cursor_families, nullptr, Bytes(begin), Bytes(end),
                                  ReadSource::kDisk);
}

std::unique_ptr<Cursor> ChunkTables::cells(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                           BytesView end) const {
  const Cursor::CursorFamilies cursor_families = {.family = family,
                                                  .damage = options_.damage.get()};
  return std::make_unique<Cursor>(*db_, cursor_families, nullptr, Bytes(begin), Bytes(end),
                                  ReadSource::kDisk);
}

Result<void> ChunkTables::add_state(const std::string& name) {
  rocksdb::ColumnFamilyHandle* fresh = nullptr;
  const rocksdb::Status created = db_->CreateColumnFamily(state_options(options_), name, &fresh);
  // After an error it may be there even so: a second attempt must find no such name.
  if (!created.ok() && fresh != nullptr) {
    db_->DropColumnFamily(fresh).PermitUncheckedError();
    db_->DestroyColumnFamilyHandle(fresh);
  }
  TRY_VOID(checked(created, "cannot write " + options_.dir));
  states_.push_back(fresh);
  return {};
}

Result<void> ChunkTables::drop_state(std::size_t index) {
  const auto family = states_.begin() + static_cast<std::ptrdiff_t>(index);
  if (!options_.read_only) {
    TRY_VOID(checked(db_->DropColumnFamily(*family), "cannot write " + options_.dir));
  }
  db_->DestroyColumnFamilyHandle(*family);
  states_.erase(family);
  return {};
}

Result<void> ChunkTables::remove_unfinished_files() {
  std::vector<std::string> names;
  TRY_VOID(checked(env_->GetChildren(options_.dir, &names), "cannot list " + options_.dir));
  for (const std::string& name : names) {
    if (!name.ends_with(kUnfinished)) continue;
    TRY_VOID(checked(env_->DeleteFile(options_.dir + "/" + name), "cannot remove " + name));
  }
  return {};
}

Result<void> ChunkTables::remove_and_flush(rocksdb::ColumnFamilyHandle* family, BytesView key) {
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  TRY_VOID(checked(db_->Delete(unlogged, family, key), "cannot write to " + options_.dir));
  return checked(db_->Flush(rocksdb::FlushOptions(), family), "cannot write to " + options_.dir);
}

Result<void> ChunkTables::copy_to(const std::string& dir) const {
  const std::shared_ptr<FileSystem> files =
      options_.files != nullptr ? options_.files : posix_files();
  return rocks::make_checkpoint(*db_, *files, dir);
}

Result<std::uint64_t> ChunkTables::count_files(rocksdb::ColumnFamilyHandle* family,
                                               int levels) const {
  std::uint64_t count = 0;
  for (int level = 0; level < std::min(levels, db_->NumberLevels(family)); ++level) {
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

std::set<std::string> ChunkTables::file_names() const {
  std::vector<rocksdb::LiveFileMetaData> live;
  db_->GetLiveFilesMetaData(&live);
  std::set<std::string> names;
  for (const rocksdb::LiveFileMetaData& file : live) names.insert(name_of(file.name));
  return names;
}

std::vector<FileExtent> ChunkTables::file_extents() const {
  std::vector<FileExtent> extents;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, late_, summaries_}) {
    const std::size_t tail = family == summaries_ ? kSummaryKeyBytes : kCellKeyBytes;
    const auto partition = [tail](BytesView key) {
      return Partition{.shard = load_be<std::uint8_t>(key.data()),
                       .slot = load_be<std::uint32_t>(key.data() + 1),
                       .period = load_be<std::uint32_t>(key.data() + key.size() - tail)};
    };
    rocksdb::ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    for (const rocksdb::LevelMetaData& level : meta.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        const std::size_t shortest = std::min(file.smallestkey.size(), file.largestkey.size());
        if (shortest < kShardSlotBytes + tail) continue;  // not a file of cells
        extents.push_back({.first = partition(file.smallestkey),
                           .last = partition(file.largestkey),
                           .bytes = file.size});
      }
    }
  }
  return extents;
}

Result<std::uint64_t> ChunkTables::file_count() const {
  TRY(const std::uint64_t of_chunks, count_files(chunks_));
  TRY(const std::uint64_t of_late, count_files(late_));
  return of_chunks + of_late;
}

std::uint64_t ChunkTables::bytes() const {
  std::uint64_t bytes = 0;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, late_, summaries_}) {
    std::uint64_t of_family = 0;
    db_->GetIntProperty(family, rocksdb::DB::Properties::kLiveSstFilesSize, &of_family);
    bytes += of_family;
  }
  return bytes;
}

FileBytes ChunkTables::written() const {
  return {.flushed = counted_->flushed,
          .sealed = counted_->sealed,
          .merged = counted_->merged,
          .marks = counted_->marks};
}

}  // namespace halite::storage::engine
