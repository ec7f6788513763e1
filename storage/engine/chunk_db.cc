#include "storage/engine/chunk_db.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/write_batch.h>

#include "storage/engine/chunk_state.h"
#include "storage/rocks/status.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

constexpr std::string_view kChunksFamily = "chunks";
constexpr std::string_view kLateFamily = "late";
constexpr std::string_view kSummariesFamily = "summaries";
constexpr std::string_view kStateKey = "state";
// There once all that is sealed has summaries, or is marked as without.
constexpr std::string_view kSummariesKey = "summaries";
constexpr std::string_view kUnfinished = ".new";  // files that no ingest() has taken yet
constexpr std::size_t kPlaceBytes = 1 + 4;

rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }

// What a key begins with, as far as it says of which lap of a slot it is.
std::optional<SlotLap> lap_of(BytesView key) {
  if (key.size() < kPlaceBytes + kCellKeyBytes) return std::nullopt;
  return SlotLap{.shard = load_be<std::uint8_t>(key.data()),
                 .slot = load_be<std::uint32_t>(key.data() + 1),
                 .generation = load_be<std::uint32_t>(key.data() + key.size() - kCellKeyBytes)};
}

rocksdb::IngestExternalFileArg taken_into(rocksdb::ColumnFamilyHandle* family) {
  rocksdb::IngestExternalFileArg arg;
  arg.column_family = family;
  arg.options.move_files = true;
  return arg;
}

}  // namespace

ChunkDb::ChunkDb(const ChunkDbOptions& options)
    : options_(options),
      file_system_(options.file_system != nullptr ? options.file_system
                                                  : rocksdb::FileSystem::Default()),
      env_(rocksdb::NewCompositeEnv(file_system_)),
      file_options_(chunk_db_options(options, env_.get(), written_), chunks_options(nullptr)) {
  file_options_.listeners.clear();
  file_options_.sst_partitioner_factory = nullptr;
}

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
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(options_.block_cache_bytes);
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, state_options()},
      {std::string(kChunksFamily), chunks_options(cache)},
      {std::string(kSummariesFamily), summaries_options(cache)},
      {std::string(kLateFamily), late_options(options_, cache)}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  TRY_VOID(checked(rocksdb::DB::Open(chunk_db_options(options_, env_.get(), written_), options_.dir,
                                     families, &handles, &db),
                   "cannot open " + options_.dir));
  db_.reset(db);
  state_ = handles[0];
  chunks_ = handles[1];
  summaries_ = handles[2];
  late_ = handles[3];
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

Result<std::unique_ptr<SstFile>> ChunkDb::make_file(FileFor purpose) {
  SstFile::IsLate late;
  if (purpose == FileFor::kFlushed) late = [this](BytesView key) { return is_late(key); };
  rocksdb::Options options = file_options_;
  if (purpose == FileFor::kSummaries) options.compression = rocksdb::kZSTD;
  auto file = std::make_unique<SstFile>(
      options, fmt::format("{}/{:08}{}", options_.dir, ++next_file_, kUnfinished), purpose,
      std::move(late));
  TRY_VOID(file->open());
  return file;
}

Result<std::unique_ptr<ChunkFile>> ChunkDb::new_file(FileFor purpose) { return make_file(purpose); }

bool ChunkDb::is_late(BytesView key) {
  const std::optional<SlotLap> lap = lap_of(key);
  return lap && is_late(*lap);
}

// Whether what comes now for that lap is late: it is sealed, or has late cells only since it was.
bool ChunkDb::is_late(const SlotLap& lap) {
  const std::shared_ptr<const UnsealedSlots> lines = unsealed();
  if (const auto line = lines->find(lap); line != lines->end()) return line->second.late;
  const std::lock_guard lock(late_mutex_);
  if (const auto known = late_laps_.find(lap); known != late_laps_.end()) return known->second;
  // What has cells and no line is sealed. Where that cannot be read it is sealed once more, whole.
  const Bytes place = place_prefix({.shard = lap.shard, .slot = lap.slot});
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}, chunks_));
  at->Seek(slice(place));
  bool late = false;
  if (at->Valid() && at->key().starts_with(slice(place))) {
    late = lap_of(at->key().ToStringView()) == lap;
  }
  late_laps_.emplace(lap, late);
  return late;
}

UnsealedSlots ChunkDb::lines_after(const Changes& changes) {
  UnsealedSlots lines = *unsealed();
  for (const SlotLap& lap : changes.sealed) lines.erase(lap);
  for (const SlotLap& lap : changes.sealed_early) lines[lap] = {};
  for (const auto& [lap, what] : changes.touched) {
    const auto [line, fresh] = lines.try_emplace(lap);
    if (fresh) line->second.late = is_late(lap);
    line->second.add(what);
  }
  return lines;
}

// The path of a file of what the default family is to say from now on.
Result<std::string> ChunkDb::write_state(const FlushMark& mark, const Changes& changes,
                                         const UnsealedSlots& lines) {
  TRY(const std::unique_ptr<SstFile> file, make_file(FileFor::kSealed));
  TRY_VOID(file->put(kStateKey, mark_bytes(mark)));
  std::set<SlotLap> changed(changes.sealed.begin(), changes.sealed.end());
  changed.insert(changes.sealed_early.begin(), changes.sealed_early.end());
  for (const auto& [lap, what] : changes.touched) changed.insert(lap);
  for (const SlotLap& lap : changed) {
    const auto line = lines.find(lap);
    TRY_VOID(line != lines.end() ? file->put(unsealed_key(lap), unsealed_bytes(line->second))
                                 : file->remove(unsealed_key(lap)));
  }
  TRY_VOID(file->finish());
  written_->marks += file->bytes();
  return file->path();
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

Result<void> ChunkDb::ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark,
                             const Changes& changes) {
  TRY_VOID(add_late_file(files));
  rocksdb::IngestExternalFileArg chunks = taken_into(chunks_);
  rocksdb::IngestExternalFileArg late = taken_into(late_);
  rocksdb::IngestExternalFileArg summaries = taken_into(summaries_);
  std::uint64_t bytes = 0;
  for (const auto& file : files) {
    auto& sst = static_cast<SstFile&>(*file);
    if (sst.entries() == 0) {
      // Nobody needs it; where it cannot be removed now, the next start does it.
      std::ignore = env_->DeleteFile(sst.path());
      continue;
    }
    TRY_VOID(sst.finish());
    bytes += sst.bytes();
    rocksdb::IngestExternalFileArg& into = sst.purpose() == FileFor::kSummaries ? summaries
                                           : sst.purpose() == FileFor::kLate    ? late
                                                                                : chunks;
    into.external_files.push_back(sst.path());
  }
  UnsealedSlots lines = lines_after(changes);
  rocksdb::IngestExternalFileArg state = taken_into(state_);
  TRY(std::string state_path, write_state(mark, changes, lines));
  state.external_files = {std::move(state_path)};
  // RocksDB shows one family after the other. The state last: who sees the mark must see the rest;
  // and late ones, which sealing removes, behind what it made of them.
  std::vector<rocksdb::IngestExternalFileArg> all;
  for (const auto* const into : {&chunks, &late, &summaries}) {
    if (!into->external_files.empty()) all.push_back(*into);
  }
  all.push_back(state);
  TRY_VOID(checked(db_->IngestExternalFiles(all), "cannot take files into " + options_.dir));
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

// Those who read go on with the one that they have.
Result<void> ChunkDb::renew_snapshot() {
  auto fresh = std::make_shared<Snapshot>(
      *db_, Snapshot::Families{.chunks = chunks_, .late = late_, .summaries = summaries_});
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
    view.cursor = std::make_unique<Cursor>(*db_, Cursor::Over{chunks_, late_}, nullptr,
                                           Bytes(begin), Bytes(end));
    TRY(view.mark, read_mark());
  } while (view.mark != before);  // a flush came between
  return view;
}

std::unique_ptr<Cursor> ChunkDb::late_cells(BytesView begin, BytesView end) const {
  return std::make_unique<Cursor>(*db_, Cursor::Over{late_}, nullptr, Bytes(begin), Bytes(end));
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

Result<void> ChunkDb::close() {
  if (db_ == nullptr) return {};
  {
    const std::lock_guard lock(mutex_);
    snapshot_.reset();
  }
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  db_->DestroyColumnFamilyHandle(chunks_);
  db_->DestroyColumnFamilyHandle(late_);
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
