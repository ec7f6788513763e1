// How ChunkDb opens its database.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/chunk_db/chunk_state.h"

namespace halite::storage::engine {

Result<void> ChunkDb::open_db() {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(options_.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {std::string(kChunksFamily), chunks_options(cache)},
      {std::string(kSummariesFamily), summaries_options(cache)},
      {std::string(kLateFamily), late_options(options_, cache)},
      {rocksdb::kDefaultColumnFamilyName, state_options(options_)}};
  rocksdb::DBOptions how = chunk_db_options(options_, env_.get(), listener_);
  std::vector<std::string> names;
  // Where that fails there is no database yet, or opening it says why.
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
    // Files that are missing, or cannot be opened: those that can be are worth having.
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
  state_ = states_.back();
  if (damaged) note_damaged_files();
  return {};
}

// Those that are not as they were written, told by their sizes.
void ChunkDb::note_damaged_files() const {
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

}  // namespace halite::storage::engine
