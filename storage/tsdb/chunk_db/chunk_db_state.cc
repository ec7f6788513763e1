// What ChunkDb says of itself: read, and told anew where it cannot be read.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include "common/config_value.h"
#include "common/log.h"
#include "storage/backends/rocks/files/lasting_write.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/chunk_db/chunk_state.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

// There once all that is sealed has summaries, or is marked as without.
constexpr std::string_view kSummariesKey = "summaries";
constexpr std::uint64_t kFlushesSkipped = std::uint64_t{1} << 32;
constexpr std::size_t kKeyEndBytes = 64;

}  // namespace

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
  rocksdb::ReadOptions options;
  ignore_removed_ranges(options);
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, state_));
  for (at->Seek(kUnsealedPrefix); at->Valid(); at->Next()) {
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

Result<void> ChunkDb::read_state() {
  TRY_VOID(choose_state());
  TRY(mark_, read_mark());
  TRY(UnsealedSlots unsealed, read_unsealed());
  if (!options_.read_only) TRY_VOID(require_summaries(unsealed));
  unsealed_ = std::make_shared<const UnsealedSlots>(std::move(unsealed));
  return {};
}

// The last one that was finished; those that were begun later are removed.
Result<void> ChunkDb::choose_state() {
  while (states_.size() > 1) {
    std::string mark;
    const rocksdb::Status status = db_->Get({}, states_.back(), std::string(kStateKey), &mark);
    if (!status.IsNotFound()) break;
    TRY_VOID(drop_state(states_.size() - 1));
  }
  state_ = states_.back();
  if (states_.size() == 1 || options_.read_only) return {};
  // The first one stays, for RocksDB wants it; it may be damaged, and is not needed.
  return checked(db_->SetOptions(states_.front(), {{"disable_auto_compactions", "true"}}),
                 "cannot open " + options_.dir);
}

Result<void> ChunkDb::drop_state(std::size_t index) {
  const auto family = states_.begin() + static_cast<std::ptrdiff_t>(index);
  if (!options_.read_only) {
    TRY_VOID(checked(db_->DropColumnFamily(*family), "cannot write " + options_.dir));
  }
  db_->DestroyColumnFamilyHandle(*family);
  states_.erase(family);
  return {};
}

// A new family in the place of one that cannot be read: the cells tell it again. All slots count as
// not sealed, and how far the log is in the chunks is not known: all that it has is taken once
// more.
Result<void> ChunkDb::rebuild_state() {
  log::error("the summary of {} is damaged; it is rebuilt by reading all keys", options_.dir);
  TRY(State told, state_of_cells());
  TRY(const auto numbers, readable_numbers());
  rocksdb::ColumnFamilyHandle* fresh = nullptr;
  // Names sort as numbers of one length do.
  std::uint64_t number = 1;
  if (states_.size() > 1) {
    const std::string& last = states_.back()->GetName();
    const Result<std::int64_t> number_of_last =
        parse_count(std::string_view(last).substr(kStatePrefix.size()));
    if (!number_of_last || *number_of_last < 0) {
      return fail(Errc::kCorruption,
                  fmt::format("{} has a column family \"{}\", expected {} and a number",
                              options_.dir, last, kStatePrefix));
    }
    number += static_cast<std::uint64_t>(*number_of_last);
  }
  TRY_VOID(checked(db_->CreateColumnFamily(state_options(options_),
                                           fmt::format("{}{:08}", kStatePrefix, number), &fresh),
                   "cannot write " + options_.dir));
  states_.push_back(fresh);
  state_ = fresh;
  rocksdb::WriteBatch batch;
  for (const auto& [lap, line] : told.unsealed) {
    TRY_VOID(checked(batch.Put(state_, unsealed_key(lap), unsealed_bytes(line)),
                     "cannot write " + options_.dir));
  }
  for (const auto& [name, noted] : numbers) {
    TRY_VOID(checked(batch.Put(state_, name, noted), "cannot write " + options_.dir));
  }
  TRY_VOID(checked(batch.Put(state_, kSummariesKey, "1"), "cannot write " + options_.dir));
  TRY_VOID(
      checked(batch.Put(state_, kStateKey, mark_bytes(told.mark)), "cannot write " + options_.dir));
  TRY_VOID(checked(rocks::write_lasting(*db_, state_, batch), "cannot write " + options_.dir));
  while (states_.size() > 2) TRY_VOID(drop_state(1));
  TRY_VOID(choose_state());
  mark_ = told.mark;
  unsealed_ = std::make_shared<const UnsealedSlots>(std::move(told.unsealed));
  return {};
}

// By name. Where the last expiry is not known any more it was long ago: so expiry looks at the data
// before it believes the clock.
Result<std::map<Bytes, Bytes>> ChunkDb::readable_numbers() const {
  std::map<Bytes, Bytes> numbers;
  Bytes long_ago;
  append_be<std::uint64_t>(long_ago, 1);
  numbers.emplace(kLastExpiryKey, long_ago);
  Cursor cursor(*db_, over(state_, nullptr), nullptr, Bytes(), Bytes(kKeyEndBytes, '\xFF'),
                ReadSource::kDisk);
  Bytes from;
  for (cursor.seek(from);; cursor.next()) {
    TRY(const bool more, cursor.pass_damage(from));
    if (!more) return numbers;
    from = cursor.key();
    const bool is_number =
        from != kStateKey && from != kSummariesKey && !BytesView(from).starts_with(kUnsealedPrefix);
    if (is_number) numbers[from] = Bytes(cursor.value());
  }
}

Result<ChunkDb::State> ChunkDb::state_of_cells() const {
  State told;
  const auto add = [&told](BytesView key) {
    if (const auto lap = lap_of(key)) {
      told.unsealed[*lap] = {.begin_ms = 0, .end_ms = UINT32_MAX, .without_summary = true};
      const auto flush = load_be<std::uint64_t>(key.data() + key.size() - sizeof(std::uint64_t));
      told.mark.flush_number = std::max(told.mark.flush_number, flush);
    }
  };
  for (rocksdb::ColumnFamilyHandle* const family : {chunks_, late_}) {
    Cursor cursor(*db_, over(family, nullptr), nullptr, Bytes(), Bytes(kKeyEndBytes, '\xFF'),
                  ReadSource::kDisk);
    Bytes from;
    for (cursor.seek(from);; cursor.next()) {
      TRY(const bool more, cursor.pass_damage(from));
      if (!more) break;
      add(cursor.key());
      from = cursor.key();
    }
    rocksdb::ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    for (const rocksdb::LevelMetaData& level : meta.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        add(file.smallestkey);
        add(file.largestkey);
      }
    }
  }
  // What cannot be read may have greater ones, but there are not that many flushes.
  told.mark.flush_number += kFlushesSkipped;
  told.mark.log_position = kUnknownPosition;
  return told;
}

// Data of a version that wrote no summaries: all its slots are to be sealed again. Looks at every
// key, once in the life of such data.
Result<void> ChunkDb::require_summaries(UnsealedSlots& unsealed) {
  std::string said;
  const rocksdb::Status status = db_->Get({}, state_, kSummariesKey, &said);
  if (status.ok()) return {};
  if (!status.IsNotFound()) return checked(status, "cannot read " + options_.dir);
  rocksdb::ReadOptions options;
  ignore_removed_ranges(options);
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, chunks_));
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
    TRY_VOID(checked(batch.Put(state_, unsealed_key(lap), unsealed_bytes(what)),
                     "cannot write " + options_.dir));
  }
  TRY_VOID(checked(batch.Put(state_, kSummariesKey, "1"), "cannot write " + options_.dir));
  return checked(rocks::write_lasting(*db_, state_, batch), "cannot write " + options_.dir);
}

}  // namespace halite::storage::engine
