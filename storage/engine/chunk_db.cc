#include "storage/engine/chunk_db.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "storage/engine/chunk_state.h"
#include "storage/rocks/info_log.h"
#include "storage/rocks/status.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

constexpr std::string_view kChunksFamily = "chunks";
constexpr std::string_view kSummariesFamily = "summaries";
constexpr std::string_view kStateKey = "state";
// There once all that is sealed has summaries, or is marked as without.
constexpr std::string_view kSummariesKey = "summaries";
constexpr std::string_view kUnfinished = ".new";  // files that no ingest() has taken yet
constexpr std::size_t kBlockBytes = 16 << 10;

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

}  // namespace

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
  TRY(UnsealedSlots unsealed, chunks->read_unsealed());
  TRY_VOID(chunks->require_summaries(unsealed));
  chunks->unsealed_ = std::make_shared<const UnsealedSlots>(std::move(unsealed));
  TRY_VOID(chunks->remove_unfinished_files());
  TRY_VOID(chunks->renew_snapshot());
  return chunks;
}

Result<void> ChunkDb::open_db() {
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, state_options()},
      {std::string(kChunksFamily), chunks_options(options_)},
      {std::string(kSummariesFamily), chunks_options(options_)}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  TRY_VOID(checked(
      rocksdb::DB::Open(db_options(options_, env_.get()), options_.dir, families, &handles, &db),
      "cannot open " + options_.dir));
  db_.reset(db);
  state_ = handles[0];
  chunks_ = handles[1];
  summaries_ = handles[2];
  return {};
}

Result<FlushMark> ChunkDb::read_mark() const {
  std::string bytes;
  const rocksdb::Status status = db_->Get({}, state_, std::string(kStateKey), &bytes);
  if (status.IsNotFound()) return FlushMark{};
  TRY_VOID(checked(status, "cannot read " + options_.dir));
  const auto mark = parse_mark(bytes);
  if (!mark) {
    return fail(Errc::kCorruption, fmt::format("{}: {}", options_.dir, mark.error().message));
  }
  return *mark;
}

Result<UnsealedSlots> ChunkDb::read_unsealed() const {
  UnsealedSlots found;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}, state_));
  for (at->Seek(slice(kUnsealedPrefix)); at->Valid(); at->Next()) {
    const BytesView key = at->key().ToStringView();
    const BytesView value = at->value().ToStringView();
    if (!key.starts_with(kUnsealedPrefix)) break;
    const auto line = parse_unsealed(key, value);
    if (!line) {
      return fail(Errc::kCorruption, fmt::format("{}: {}", options_.dir, line.error().message));
    }
    found.insert(*line);
  }
  TRY_VOID(checked(at->status(), "cannot read " + options_.dir));
  return found;
}

// Data of a version that wrote no summaries: all its slots are to be sealed again. Looks at every
// key, once in the life of such data.
Result<void> ChunkDb::require_summaries(UnsealedSlots& unsealed) {
  std::string said;
  const rocksdb::Status status = db_->Get({}, state_, slice(kSummariesKey), &said);
  if (status.ok()) return {};
  if (!status.IsNotFound()) return checked(status, "cannot read " + options_.dir);
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}, chunks_));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    const BytesView key = at->key().ToStringView();
    if (key.size() < kCellKeyBytes + 5) continue;
    const char* const cell = key.data() + key.size() - kCellKeyBytes;
    unsealed[{.shard = load_be<std::uint8_t>(key.data()),
              .slot = load_be<std::uint32_t>(key.data() + 1),
              .generation = load_be<std::uint32_t>(cell)}]
        .add({.begin_ms = 0, .end_ms = UINT32_MAX, .without_summary = true});
  }
  TRY_VOID(checked(at->status(), "cannot read " + options_.dir));
  rocksdb::WriteBatch batch;
  for (const auto& [lap, what] : unsealed) {
    TRY_VOID(checked(batch.Put(state_, slice(unsealed_key(lap)), slice(unsealed_bytes(what))),
                     "cannot write " + options_.dir));
  }
  TRY_VOID(
      checked(batch.Put(state_, slice(kSummariesKey), slice("1")), "cannot write " + options_.dir));
  rocksdb::WriteOptions lasting;
  lasting.sync = true;
  return checked(db_->Write(lasting, &batch), "cannot write " + options_.dir);
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

Result<std::unique_ptr<ChunkFile>> ChunkDb::new_file(FileFor family) {
  auto file = std::make_unique<SstFile>(
      file_options_, fmt::format("{}/{:08}{}", options_.dir, ++next_file_, kUnfinished), family);
  TRY_VOID(file->open());
  return file;
}

// The path of a file of what the default family is to say from now on.
Result<std::string> ChunkDb::write_state(const FlushMark& mark, const Changes& changes) {
  SstFile file(file_options_, fmt::format("{}/{:08}{}", options_.dir, ++next_file_, kUnfinished),
               FileFor::kChunks);
  TRY_VOID(file.open());
  TRY_VOID(file.put(kStateKey, mark_bytes(mark)));
  UnsealedSlots touched = changes.touched;  // with what was said of them before
  const std::shared_ptr<const UnsealedSlots> before = unsealed();
  for (auto& [lap, what] : touched) {
    if (const auto known = before->find(lap); known != before->end()) what.add(known->second);
  }
  std::map<SlotLap, bool> lines;  // true: there is something to say
  for (const SlotLap& lap : changes.sealed) lines[lap] = false;
  for (const auto& [lap, what] : touched) lines[lap] = true;
  for (const auto& [lap, put] : lines) {
    TRY_VOID(put ? file.put(unsealed_key(lap), unsealed_bytes(touched[lap]))
                 : file.remove(unsealed_key(lap)));
  }
  TRY_VOID(file.finish());
  return file.path();
}

Result<void> ChunkDb::ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark,
                             const Changes& changes) {
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  rocksdb::IngestExternalFileArg chunks;
  chunks.column_family = chunks_;
  chunks.options = options;
  rocksdb::IngestExternalFileArg summaries = chunks;
  summaries.column_family = summaries_;
  for (const auto& file : files) {
    auto& sst = static_cast<SstFile&>(*file);
    if (sst.entries() == 0) {
      // Nobody needs it; where it cannot be removed now, the next start does it.
      std::ignore = env_->DeleteFile(sst.path());
      continue;
    }
    TRY_VOID(sst.finish());
    (sst.family() == FileFor::kChunks ? chunks : summaries).external_files.push_back(sst.path());
  }
  rocksdb::IngestExternalFileArg state = chunks;
  state.column_family = state_;
  TRY(std::string state_path, write_state(mark, changes));
  state.external_files = {std::move(state_path)};
  // The state last: RocksDB shows one family after the other, and who sees the mark must see them.
  std::vector<rocksdb::IngestExternalFileArg> all;
  if (!chunks.external_files.empty()) all.push_back(chunks);
  if (!summaries.external_files.empty()) all.push_back(summaries);
  all.push_back(state);
  TRY_VOID(checked(db_->IngestExternalFiles(all), "cannot take files into " + options_.dir));
  auto unsealed = std::make_shared<UnsealedSlots>(*this->unsealed());
  for (const SlotLap& lap : changes.sealed) unsealed->erase(lap);
  for (const auto& [lap, what] : changes.touched) (*unsealed)[lap].add(what);
  {
    const std::lock_guard lock(mutex_);
    mark_ = mark;
    unsealed_ = std::move(unsealed);
  }
  return renew_snapshot();
}

// Those who read go on with the one that they have.
Result<void> ChunkDb::renew_snapshot() {
  auto fresh = std::make_shared<Snapshot>(
      *db_, Snapshot::Families{.chunks = chunks_, .summaries = summaries_});
  const std::lock_guard lock(mutex_);
  fresh->mark = mark_;
  fresh->unsealed = unsealed_;
  std::swap(snapshot_, fresh);  // the old one goes when nobody reads it any more
  return {};
}

std::unique_ptr<ShardView> ChunkDb::shard_view(std::uint32_t shard, ReadFrom from) const {
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
    view.cursor = std::make_unique<Cursor>(*db_, chunks_, nullptr, Bytes(begin), Bytes(end));
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

Result<void> ChunkDb::compact_family(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                     BytesView end) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  const rocksdb::Slice from = slice(begin);
  const rocksdb::Slice to = slice(end);
  return checked(db_->CompactRange(options, family, &from, &to),
                 "cannot merge files of " + options_.dir);
}

Result<void> ChunkDb::compact(BytesView begin, BytesView end) {
  TRY_VOID(compact_family(chunks_, begin, end));
  TRY_VOID(compact_family(summaries_, begin, end));
  return renew_snapshot();  // so that the files merged can go
}

Result<void> ChunkDb::drop(BytesView begin, BytesView end) {
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
  return compact(begin, end);
}

std::uint64_t ChunkDb::files() const {
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(chunks_, &meta);
  return meta.file_count;
}

std::uint64_t ChunkDb::bytes() const {
  std::uint64_t bytes = 0;
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, summaries_}) {
    rocksdb::ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    bytes += meta.size;
  }
  return bytes;
}

Result<void> ChunkDb::close() {
  if (db_ == nullptr) return {};
  {
    const std::lock_guard lock(mutex_);
    snapshot_.reset();
  }
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  db_->DestroyColumnFamilyHandle(chunks_);
  db_->DestroyColumnFamilyHandle(summaries_);
  db_->DestroyColumnFamilyHandle(state_);
  Result<void> closed = checked(db_->Close(), "cannot close " + options_.dir);
  db_.reset();
  return closed;
}

ChunkDb::~ChunkDb() {
  // Only a failed open() comes here with it still open: no one to tell.
  std::ignore = close();
}

}  // namespace halite::storage::engine
