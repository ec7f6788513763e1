#include "storage/tsdb/chunk_db/chunk_db.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/write_batch.h>

#include "common/log.h"
#include "storage/backends/rocks/files/file_system.h"
#include "storage/backends/rocks/files/lasting_write.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/chunk_db/chunk_state.h"

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

ChunkDb::ChunkDb(const ChunkDbOptions& options)
    : options_(complete(options)),
      env_(rocksdb::NewCompositeEnv(rocks::make_file_system(
          options.files != nullptr ? options.files : posix_files(), fuse_))),
      listener_(std::make_shared<ChunkListener>(written_, options_.damage)),
      file_options_(chunk_db_options(options_, env_.get(), listener_), chunks_options(nullptr)) {
  file_options_.listeners.clear();
  file_options_.sst_partitioner_factory = nullptr;
}

Result<std::unique_ptr<ChunkDb>> ChunkDb::open(const ChunkDbOptions& options) {
  std::unique_ptr<ChunkDb> chunks(new ChunkDb(options));
  if (options.read_only) return look(std::move(chunks));
  TRY_VOID(chunks->open_db());
  Result<void> read = chunks->read_state();
  if (!read && read.error().code == Errc::kCorruption && !options.strict) {
    chunks->options_.damage->note(read.error());
    read = chunks->rebuild_state();
  }
  TRY_VOID(std::move(read));
  TRY_VOID(chunks->remove_unfinished_files());
  TRY_VOID(chunks->renew_snapshot());
  return chunks;
}

Result<std::unique_ptr<ChunkDb>> ChunkDb::look(std::unique_ptr<ChunkDb> chunks) {
  TRY_VOID(chunks->open_db());
  const Result<void> read = chunks->read_state();
  if (!read && read.error().code != Errc::kCorruption) return std::unexpected(read.error());
  if (!read) {
    chunks->mark_ = {.flush_number = 0, .log_position = kUnknownPosition};
    chunks->unsealed_ = std::make_shared<const UnsealedSlots>();
  }
  TRY_VOID(chunks->renew_snapshot());
  return chunks;
}

Result<void> ChunkDb::remove_unfinished_files() {
  std::vector<std::string> names;
  TRY_VOID(checked(env_->GetChildren(options_.dir, &names), "cannot list " + options_.dir));
  for (const std::string& name : names) {
    if (!name.ends_with(kUnfinished)) continue;
    TRY_VOID(checked(env_->DeleteFile(options_.dir + "/" + name), "cannot remove " + name));
  }
  return {};
}

FlushMark ChunkDb::mark() const {
  const std::lock_guard lock(mutex_);
  return mark_;
}

std::shared_ptr<const UnsealedSlots> ChunkDb::unsealed() const {
  const std::lock_guard lock(mutex_);
  return unsealed_;
}

// Those who read go on with the one that they have.
Result<void> ChunkDb::renew_snapshot() {
  const Snapshot::Families families = {
      .chunks = chunks_, .late = late_, .summaries = summaries_, .damage = options_.damage.get()};
  std::uint64_t above_merged = 0;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, late_, summaries_}) {
    TRY(const std::uint64_t files, count_files(family, 1));
    above_merged += files;
  }
  const bool keeps_cursors = above_merged <= static_cast<std::uint64_t>(options_.open_files_max);
  auto fresh = std::make_shared<Snapshot>(*db_, families, keeps_cursors);
  const std::lock_guard lock(mutex_);
  fresh->mark = mark_;
  fresh->unsealed = unsealed_;
  std::swap(snapshot_, fresh);  // the old one goes when nobody reads it any more
  return {};
}

std::unique_ptr<ShardView> ChunkDb::shard_view(std::uint32_t shard, ReadSource from) const {
  std::shared_ptr<Snapshot> newest;
  {
    const std::lock_guard lock(mutex_);
    newest = snapshot_;
  }
  return std::make_unique<ShardView>(std::move(newest), shard, from);
}

// For those who write. Without a snapshot: as long as it lived a merge would have to keep what was
// dropped.
Result<ChunkDb::View> ChunkDb::view(BytesView begin, BytesView end) const {
  View view;
  FlushMark before;
  do {
    TRY(before, read_mark());
    view.cursor = std::make_unique<Cursor>(*db_, over(chunks_, late_), nullptr, Bytes(begin),
                                           Bytes(end), ReadSource::kDisk);
    TRY(view.mark, read_mark());
  } while (view.mark != before);  // a flush came between
  return view;
}

bool ChunkDb::any_with(BytesView prefix) const {
  Cursor cursor(*db_, over(chunks_, late_), nullptr, Bytes(prefix), prefix_end(prefix),
                ReadSource::kDisk);
  cursor.seek(prefix);
  return cursor.valid() || !cursor.status();
}

std::unique_ptr<Cursor> ChunkDb::late_cells(BytesView begin, BytesView end) const {
  return std::make_unique<Cursor>(*db_, over(late_, nullptr), nullptr, Bytes(begin), Bytes(end),
                                  ReadSource::kDisk);
}

Result<std::optional<std::int64_t>> ChunkDb::read_number(BytesView name) const {
  std::string bytes;
  const rocksdb::Status status = db_->Get({}, state_, name, &bytes);
  if (status.IsNotFound()) return std::optional<std::int64_t>();
  TRY_VOID(checked(status, "cannot read " + options_.dir));
  if (bytes.size() != sizeof(std::uint64_t)) {
    return fail(Errc::kCorruption, fmt::format("{}: the number \"{}\" is {} bytes, not 8",
                                               options_.dir, name, bytes.size()));
  }
  return std::optional(static_cast<std::int64_t>(load_be<std::uint64_t>(bytes.data())));
}

Result<void> ChunkDb::note_number(BytesView name, std::int64_t number) {
  Bytes bytes;
  append_be(bytes, static_cast<std::uint64_t>(number));
  rocksdb::WriteBatch batch;
  TRY_VOID(checked(batch.Put(state_, name, bytes), "cannot write " + options_.dir));
  return checked(rocks::write_lasting(*db_, state_, batch), "cannot write " + options_.dir);
}

Result<void> ChunkDb::close() {
  if (db_ == nullptr) return {};
  {
    const std::lock_guard lock(mutex_);
    snapshot_.reset();
  }
  listener_->end(*fuse_);
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  db_->DestroyColumnFamilyHandle(chunks_);
  db_->DestroyColumnFamilyHandle(late_);
  db_->DestroyColumnFamilyHandle(summaries_);
  for (rocksdb::ColumnFamilyHandle* const state : states_) db_->DestroyColumnFamilyHandle(state);
  Result<void> closed = checked(db_->Close(), "cannot close " + options_.dir);
  db_.reset();
  return closed;
}

ChunkDb::~ChunkDb() {
  // Only a failed open() comes here with it still open: no one to tell.
  std::ignore = close();
}

}  // namespace halite::storage::engine
