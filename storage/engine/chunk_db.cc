#include "storage/engine/chunk_db.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include "storage/rocks/info_log.h"
#include "storage/rocks/status.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

constexpr std::string_view kChunksFamily = "chunks";
constexpr std::string_view kStateKey = "state";
constexpr std::string_view kUnfinished = ".new";  // files that no ingest() has taken yet
constexpr std::size_t kBlockBytes = 16 << 10;
constexpr std::size_t kMarkBytes = 16;

rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }

rocksdb::ColumnFamilyOptions chunks_options(const ChunkDbOptions& options) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  table.block_size = kBlockBytes;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  table.cache_index_and_filter_blocks = true;
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.compression = rocksdb::kNoCompression;  // chunks are dense already
  family.disable_auto_compactions = true;
  // Files come from outside, however many there are.
  family.level0_slowdown_writes_trigger = 1 << 30;
  family.level0_stop_writes_trigger = 1 << 30;
  return family;
}

// Each ingest() adds a file with one key: now and then they become one.
rocksdb::ColumnFamilyOptions state_options() {
  rocksdb::ColumnFamilyOptions family;
  family.level0_file_num_compaction_trigger = 16;
  family.write_buffer_size = 1 << 20;
  family.level0_slowdown_writes_trigger = 1 << 30;
  family.level0_stop_writes_trigger = 1 << 30;
  return family;
}

rocksdb::DBOptions db_options(const ChunkDbOptions& options, rocksdb::Env* env) {
  rocksdb::DBOptions db;
  db.env = env;
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  db.max_background_jobs = static_cast<int>(options.background_threads);
  db.max_open_files = options.open_files_max;
  db.info_log = rocks::make_info_log();
  db.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  return db;
}

Bytes mark_bytes(const FlushMark& mark) {
  Bytes bytes;
  append_be(bytes, mark.flush_number);
  append_be(bytes, mark.log_position);
  return bytes;
}

}  // namespace

class ChunkDb::SstFile final : public ChunkFile {
 public:
  SstFile(const rocksdb::Options& options, std::string path)
      : writer_(rocksdb::EnvOptions(), options), path_(std::move(path)) {}

  Result<void> open() { return checked(writer_.Open(path_), "cannot make " + path_); }

  Result<void> put(BytesView key, BytesView value) override {
    ++entries_;
    return checked(writer_.Put(slice(key), slice(value)), "cannot write " + path_);
  }
  Result<void> remove(BytesView key) override {
    ++entries_;
    return checked(writer_.Delete(slice(key)), "cannot write " + path_);
  }
  [[nodiscard]] std::uint64_t bytes() const override {
    return const_cast<rocksdb::SstFileWriter&>(writer_).FileSize();
  }
  [[nodiscard]] std::uint64_t entries() const override { return entries_; }

  // Writes the rest and syncs.
  Result<void> finish() { return checked(writer_.Finish(), "cannot write " + path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  rocksdb::SstFileWriter writer_;
  const std::string path_;
  std::uint64_t entries_ = 0;
};

ChunkDb::ChunkDb(const ChunkDbOptions& options)
    : options_(options),
      file_system_(options.file_system != nullptr ? options.file_system
                                                  : rocksdb::FileSystem::Default()),
      env_(rocksdb::NewCompositeEnv(file_system_)),
      file_options_(db_options(options, env_.get()), chunks_options(options)) {}

Result<std::unique_ptr<ChunkDb>> ChunkDb::open(const ChunkDbOptions& options) {
  std::unique_ptr<ChunkDb> chunks(new ChunkDb(options));
  TRY_VOID(chunks->open_db());
  TRY(chunks->mark_, chunks->read_mark());
  TRY_VOID(chunks->remove_unfinished_files());
  return chunks;
}

Result<void> ChunkDb::open_db() {
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, state_options()},
      {std::string(kChunksFamily), chunks_options(options_)}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  TRY_VOID(checked(
      rocksdb::DB::Open(db_options(options_, env_.get()), options_.dir, families, &handles, &db),
      "cannot open " + options_.dir));
  db_.reset(db);
  state_ = handles[0];
  chunks_ = handles[1];
  return {};
}

Result<FlushMark> ChunkDb::read_mark() const {
  std::string bytes;
  const rocksdb::Status status = db_->Get({}, state_, std::string(kStateKey), &bytes);
  if (status.IsNotFound()) return FlushMark{};
  TRY_VOID(checked(status, "cannot read " + options_.dir));
  if (bytes.size() != kMarkBytes) {
    return fail(Errc::kCorruption, fmt::format("{}: the mark of the last flush is {} bytes, not {}",
                                               options_.dir, bytes.size(), kMarkBytes));
  }
  return FlushMark{.flush_number = load_be<std::uint64_t>(bytes.data()),
                   .log_position = load_be<std::uint64_t>(bytes.data() + 8)};
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

Result<std::unique_ptr<ChunkFile>> ChunkDb::new_file() {
  auto file = std::make_unique<SstFile>(
      file_options_, fmt::format("{}/{:08}{}", options_.dir, ++next_file_, kUnfinished));
  TRY_VOID(file->open());
  return file;
}

Result<void> ChunkDb::ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark) {
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  rocksdb::IngestExternalFileArg chunks;
  chunks.column_family = chunks_;
  chunks.options = options;
  for (const auto& file : files) {
    auto& sst = static_cast<SstFile&>(*file);
    if (sst.entries() == 0) continue;
    TRY_VOID(sst.finish());
    chunks.external_files.push_back(sst.path());
  }
  TRY(const auto state_file, new_file());
  auto& state_sst = static_cast<SstFile&>(*state_file);
  TRY_VOID(state_sst.put(kStateKey, mark_bytes(mark)));
  TRY_VOID(state_sst.finish());
  rocksdb::IngestExternalFileArg state;
  state.column_family = state_;
  state.options = options;
  state.external_files.push_back(state_sst.path());
  // Chunks first: RocksDB shows one family after the other, and who sees the mark must see them.
  std::vector<rocksdb::IngestExternalFileArg> both;
  if (!chunks.external_files.empty()) both.push_back(chunks);
  both.push_back(state);
  TRY_VOID(checked(db_->IngestExternalFiles(both), "cannot take files into " + options_.dir));
  const std::lock_guard lock(mutex_);
  mark_ = mark;
  return {};
}

// Without a snapshot: RocksDB would ask it again whenever the iterator comes to a file with deleted
// ranges, and as long as it lived a merge would have to keep what was dropped.
Result<ChunkDb::View> ChunkDb::view(BytesView begin, BytesView end) const {
  View view;
  FlushMark before;
  do {
    TRY(before, read_mark());
    view.cursor = std::make_unique<Cursor>(Bytes(begin), Bytes(end));
    rocksdb::ReadOptions options;
    options.iterate_lower_bound = &view.cursor->lower_;
    options.iterate_upper_bound = &view.cursor->upper_;
    view.cursor->iterator_.reset(db_->NewIterator(options, chunks_));
    TRY(view.mark, read_mark());
  } while (view.mark != before);  // a flush came between
  return view;
}

Result<std::optional<TimestampMs>> ChunkDb::read_time(BytesView name) const {
  std::string bytes;
  const rocksdb::Status status = db_->Get({}, state_, slice(name), &bytes);
  if (status.IsNotFound()) return std::optional<TimestampMs>();
  TRY_VOID(checked(status, "cannot read " + options_.dir));
  if (bytes.size() != sizeof(std::uint64_t)) {
    return fail(Errc::kCorruption, fmt::format("{}: the time \"{}\" is {} bytes, not 8",
                                               options_.dir, name, bytes.size()));
  }
  return std::optional(static_cast<TimestampMs>(load_be<std::uint64_t>(bytes.data())));
}

Result<void> ChunkDb::note_time(BytesView name, TimestampMs time) {
  Bytes bytes;
  append_be(bytes, static_cast<std::uint64_t>(time));
  rocksdb::WriteOptions lasting;
  lasting.sync = true;
  return checked(db_->Put(lasting, state_, slice(name), bytes), "cannot write " + options_.dir);
}

Result<void> ChunkDb::compact(BytesView begin, BytesView end) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  const rocksdb::Slice from = slice(begin);
  const rocksdb::Slice to = slice(end);
  return checked(db_->CompactRange(options, chunks_, &from, &to),
                 "cannot merge files of " + options_.dir);
}

Result<void> ChunkDb::drop(BytesView begin, BytesView end) {
  const rocksdb::Slice from = slice(begin);
  const rocksdb::Slice to = slice(end);
  // Whole files go at once; what is left at their borders is marked, and goes with a compaction.
  TRY_VOID(checked(rocksdb::DeleteFilesInRange(db_.get(), chunks_, &from, &to, false),
                   "cannot remove files of " + options_.dir));
  rocksdb::WriteOptions lasting;
  lasting.sync = true;
  TRY_VOID(checked(db_->DeleteRange(lasting, chunks_, from, to),
                   "cannot remove chunks of " + options_.dir));
  return compact(begin, end);
}

std::uint64_t ChunkDb::files() const {
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(chunks_, &meta);
  return meta.file_count;
}

std::uint64_t ChunkDb::bytes() const {
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(chunks_, &meta);
  return meta.size;
}

Result<void> ChunkDb::close() {
  if (db_ == nullptr) return {};
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  db_->DestroyColumnFamilyHandle(chunks_);
  db_->DestroyColumnFamilyHandle(state_);
  Result<void> closed = checked(db_->Close(), "cannot close " + options_.dir);
  db_.reset();
  return closed;
}

ChunkDb::~ChunkDb() {
  // Only a failed open() comes here with it still open: no one to tell.
  std::ignore = close();
}

ChunkDb::Cursor::Cursor(Bytes begin, Bytes end)
    : begin_(std::move(begin)), end_(std::move(end)), lower_(begin_), upper_(end_) {}

void ChunkDb::Cursor::seek(BytesView key) { iterator_->Seek(slice(key)); }
void ChunkDb::Cursor::next() { iterator_->Next(); }
bool ChunkDb::Cursor::valid() const { return iterator_->Valid(); }
BytesView ChunkDb::Cursor::key() const { return iterator_->key().ToStringView(); }
BytesView ChunkDb::Cursor::value() const { return iterator_->value().ToStringView(); }
Result<void> ChunkDb::Cursor::status() const {
  return checked(iterator_->status(), "cannot read chunks");
}

}  // namespace halite::storage::engine
