#include "storage/tsdb/chunk_db/slot_states.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include "common/config/config_value.h"
#include "common/log.h"
#include "storage/backends/rocks/files/lasting_write.h"
#include "storage/backends/rocks/files/status.h"

namespace halite::storage::engine {

using rocks::checked;

namespace {

// Present once everything sealed has summaries or is marked as lacking them.
constexpr std::string_view kSummariesKey = "summaries";
constexpr std::uint64_t kFlushesSkipped = std::uint64_t{1} << 32;
constexpr std::size_t kKeyEndBytes = 64;

}  // namespace

Result<void> SlotStates::load() {
  Result<void> done = read();
  if (done || done.error().code != Errc::kCorruption) return done;
  if (tables_.options().read_only) {
    set({.flush_number = 0, .log_position = kUnknownPosition}, {});
    return {};
  }
  if (tables_.options().strict) return done;
  tables_.damage().note(done.error());
  return rebuild();
}

SlotStates::Current SlotStates::current() const {
  const std::lock_guard lock(mutex_);
  return {.mark = mark_, .unsealed = unsealed_};
}

void SlotStates::set(const FlushMark& mark, UnsealedRanges unsealed) {
  {
    const std::lock_guard lock(late_mutex_);
    late_partitions_.clear();
  }
  const std::lock_guard lock(mutex_);
  mark_ = mark;
  unsealed_ = std::make_shared<const UnsealedRanges>(std::move(unsealed));
}

bool SlotStates::is_late(const Partition& partition) {
  const std::shared_ptr<const UnsealedRanges> lines = unsealed();
  if (const auto line = lines->find(partition); line != lines->end()) return line->second.late;
  const std::lock_guard lock(late_mutex_);
  if (const auto known = late_partitions_.find(partition); known != late_partitions_.end())
    return known->second;
  // A partition with cells but no entry is sealed. If its cells cannot be read it is sealed again.
  const Bytes shard_slot = shard_slot_prefix({.shard = partition.shard, .slot = partition.slot});
  rocksdb::ReadOptions options;
  ignore_removed_ranges(options);
  const std::unique_ptr<rocksdb::Iterator> at(tables_.db().NewIterator(options, tables_.chunks()));
  at->Seek(shard_slot);
  bool late = false;
  if (at->Valid() && at->key().starts_with(shard_slot)) {
    late = partition_of(at->key().ToStringView()) == partition;
  }
  late_partitions_.emplace(partition, late);
  return late;
}

UnsealedRanges SlotStates::after(const SlotChanges& changes) {
  UnsealedRanges lines = *unsealed();
  for (const Partition& partition : changes.sealed) lines.erase(partition);
  for (const Partition& partition : changes.sealed_early) lines[partition] = {};
  // As if sealed early: other series may have points by the next flush.
  for (const Partition& partition : changes.sealed_directly) {
    if (!is_late(partition)) lines.try_emplace(partition);
  }
  for (const auto& [partition, what] : changes.touched) {
    const auto [line, fresh] = lines.try_emplace(partition);
    if (fresh) line->second.late = is_late(partition);
    line->second.add(what);
  }
  return lines;
}

Result<void> SlotStates::write(const FlushMark& mark, const SlotChanges& changes,
                               const UnsealedRanges& after, ChunkFile& file) {
  TRY_VOID(file.put(kStateKey, mark_bytes(mark)));
  std::set<Partition> changed(changes.sealed.begin(), changes.sealed.end());
  changed.insert(changes.sealed_early.begin(), changes.sealed_early.end());
  for (const Partition& partition : changes.sealed_directly) {
    if (after.contains(partition)) changed.insert(partition);
  }
  for (const auto& [partition, what] : changes.touched) changed.insert(partition);
  for (const Partition& partition : changed) {
    const auto line = after.find(partition);
    TRY_VOID(line != after.end() ? file.put(unsealed_key(partition), unsealed_bytes(line->second))
                                 : file.remove(unsealed_key(partition)));
  }
  return {};
}

Result<std::optional<std::int64_t>> SlotStates::read_number(BytesView name) const {
  std::string bytes;
  const rocksdb::Status status = tables_.db().Get({}, tables_.state(), name, &bytes);
  if (status.IsNotFound()) return std::optional<std::int64_t>();
  TRY_VOID(checked(status, "cannot read " + tables_.dir()));
  if (bytes.size() != sizeof(std::uint64_t)) {
    return fail(Errc::kCorruption, fmt::format("{}: the number \"{}\" is {} bytes, not 8",
                                               tables_.dir(), name, bytes.size()));
  }
  return std::optional(static_cast<std::int64_t>(load_be<std::uint64_t>(bytes.data())));
}

Result<void> SlotStates::note_number(BytesView name, std::int64_t number) {
  Bytes bytes;
  append_be(bytes, static_cast<std::uint64_t>(number));
  rocksdb::WriteBatch batch;
  TRY_VOID(wrote(batch.Put(tables_.state(), name, bytes)));
  return wrote(rocks::write_lasting(tables_.db(), tables_.state(), batch));
}

Result<FlushMark> SlotStates::stored_mark() const {
  std::string bytes;
  const rocksdb::Status status =
      tables_.db().Get({}, tables_.state(), std::string(kStateKey), &bytes);
  if (status.IsNotFound()) return FlushMark{};
  TRY_VOID(checked(status, "cannot read " + tables_.dir()));
  const auto mark = parse_mark(bytes);
  if (!mark) {
    return fail(Errc::kCorruption, fmt::format("{}: {}", tables_.dir(), mark.error().message));
  }
  return *mark;
}

Result<UnsealedRanges> SlotStates::read_unsealed() const {
  UnsealedRanges found;
  rocksdb::ReadOptions options;
  ignore_removed_ranges(options);
  const std::unique_ptr<rocksdb::Iterator> at(tables_.db().NewIterator(options, tables_.state()));
  for (at->Seek(kUnsealedPrefix); at->Valid(); at->Next()) {
    const BytesView key = at->key().ToStringView();
    const BytesView value = at->value().ToStringView();
    if (!key.starts_with(kUnsealedPrefix)) break;
    const auto line = parse_unsealed(key, value);
    if (!line) {
      return fail(Errc::kCorruption, fmt::format("{}: {}", tables_.dir(), line.error().message));
    }
    found.insert(*line);
  }
  TRY_VOID(checked(at->status(), "cannot read " + tables_.dir()));
  return found;
}

Result<void> SlotStates::read() {
  TRY_VOID(choose_family());
  TRY(const FlushMark mark, stored_mark());
  TRY(UnsealedRanges unsealed, read_unsealed());
  if (!tables_.options().read_only) TRY_VOID(require_summaries(unsealed));
  set(mark, std::move(unsealed));
  return {};
}

// Uses the last complete family and removes those begun later.
Result<void> SlotStates::choose_family() {
  while (tables_.states().size() > 1) {
    std::string mark;
    const rocksdb::Status status =
        tables_.db().Get({}, tables_.state(), std::string(kStateKey), &mark);
    if (!status.IsNotFound()) break;
    TRY_VOID(tables_.drop_state(tables_.states().size() - 1));
  }
  if (tables_.states().size() == 1 || tables_.options().read_only) return {};
  // RocksDB requires the default family. It may be damaged, but it is not used.
  return checked(
      tables_.db().SetOptions(tables_.states().front(), {{"disable_auto_compactions", "true"}}),
      "cannot open " + tables_.dir());
}

// Replaces an unreadable family by a new one. All slots become unsealed and the log position
// becomes unknown, so the whole log is replayed.
Result<void> SlotStates::rebuild() {
  log::error("the summary of {} is damaged; it is rebuilt by reading all keys", tables_.dir());
  TRY(State told, state_of_cells());
  TRY(const auto numbers, readable_numbers());
  TRY_VOID(add_family());
  rocksdb::WriteBatch batch;
  for (const auto& [partition, line] : told.unsealed) {
    TRY_VOID(wrote(batch.Put(tables_.state(), unsealed_key(partition), unsealed_bytes(line))));
  }
  for (const auto& [name, noted] : numbers) {
    TRY_VOID(wrote(batch.Put(tables_.state(), name, noted)));
  }
  TRY_VOID(wrote(batch.Put(tables_.state(), kSummariesKey, "1")));
  TRY_VOID(wrote(batch.Put(tables_.state(), kStateKey, mark_bytes(told.mark))));
  TRY_VOID(wrote(rocks::write_lasting(tables_.db(), tables_.state(), batch)));
  while (tables_.states().size() > 2) TRY_VOID(tables_.drop_state(1));
  TRY_VOID(choose_family());
  set(told.mark, std::move(told.unsealed));
  return {};
}

// Names of equal length sort like their numbers.
Result<void> SlotStates::add_family() {
  std::uint64_t number = 1;
  if (tables_.states().size() > 1) {
    const std::string& last = tables_.state()->GetName();
    const Result<std::int64_t> number_of_last =
        parse_count(std::string_view(last).substr(kStatePrefix.size()));
    if (!number_of_last || *number_of_last < 0) {
      return fail(Errc::kCorruption,
                  fmt::format("{} has a column family \"{}\", expected {} and a number",
                              tables_.dir(), last, kStatePrefix));
    }
    number += static_cast<std::uint64_t>(*number_of_last);
  }
  return tables_.add_state(fmt::format("{}{:08}", kStatePrefix, number));
}

// Returns numbers by name. If the time of the last expiry is lost it counts as long ago, so that
// expiry examines the data before it trusts the clock.
Result<std::map<Bytes, Bytes>> SlotStates::readable_numbers() const {
  std::map<Bytes, Bytes> numbers;
  Bytes long_ago;
  append_be<std::uint64_t>(long_ago, 1);
  numbers.emplace(kLastExpiryKey, long_ago);
  const std::unique_ptr<Cursor> held =
      tables_.cells(tables_.state(), {}, Bytes(kKeyEndBytes, '\xFF'));
  Cursor& cursor = *held;
  Bytes from;
  for (cursor.seek(from);; cursor.next()) {
    TRY(const bool more, cursor.skip_damage(from));
    if (!more) return numbers;
    from = cursor.key();
    const bool is_number =
        from != kStateKey && from != kSummariesKey && !BytesView(from).starts_with(kUnsealedPrefix);
    if (is_number) numbers[from] = Bytes(cursor.value());
  }
}

Result<SlotStates::State> SlotStates::state_of_cells() const {
  State told;
  const auto add = [&told](BytesView key) {
    if (const auto partition = partition_of(key)) {
      told.unsealed[*partition] = {.begin_ms = 0, .end_ms = UINT32_MAX, .without_summary = true};
      const auto flush = load_be<std::uint64_t>(key.data() + key.size() - sizeof(std::uint64_t));
      told.mark.flush_number = std::max(told.mark.flush_number, flush);
    }
  };
  for (rocksdb::ColumnFamilyHandle* const family : {tables_.chunks(), tables_.late()}) {
    const std::unique_ptr<Cursor> held = tables_.cells(family, {}, Bytes(kKeyEndBytes, '\xFF'));
    Cursor& cursor = *held;
    Bytes from;
    for (cursor.seek(from);; cursor.next()) {
      TRY(const bool more, cursor.skip_damage(from));
      if (!more) break;
      add(cursor.key());
      from = cursor.key();
    }
    rocksdb::ColumnFamilyMetaData meta;
    tables_.db().GetColumnFamilyMetaData(family, &meta);
    for (const rocksdb::LevelMetaData& level : meta.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        add(file.smallestkey);
        add(file.largestkey);
      }
    }
  }
  // Unreadable cells may have greater flush numbers, but not by this much.
  told.mark.flush_number += kFlushesSkipped;
  told.mark.log_position = kUnknownPosition;
  return told;
}

// Marks all slots for sealing if an earlier version wrote the data without summaries. Reads every
// key, once.
Result<void> SlotStates::require_summaries(UnsealedRanges& unsealed) {
  std::string said;
  const rocksdb::Status status = tables_.db().Get({}, tables_.state(), kSummariesKey, &said);
  if (status.ok()) return {};
  if (!status.IsNotFound()) return checked(status, "cannot read " + tables_.dir());
  rocksdb::ReadOptions options;
  ignore_removed_ranges(options);
  const std::unique_ptr<rocksdb::Iterator> at(tables_.db().NewIterator(options, tables_.chunks()));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    const auto partition = partition_of(at->key().ToStringView());
    if (partition)
      unsealed[*partition].add({.begin_ms = 0, .end_ms = UINT32_MAX, .without_summary = true});
  }
  TRY_VOID(checked(at->status(), "cannot read " + tables_.dir()));
  rocksdb::WriteBatch batch;
  for (const auto& [partition, what] : unsealed) {
    TRY_VOID(wrote(batch.Put(tables_.state(), unsealed_key(partition), unsealed_bytes(what))));
  }
  TRY_VOID(wrote(batch.Put(tables_.state(), kSummariesKey, "1")));
  return wrote(rocks::write_lasting(tables_.db(), tables_.state(), batch));
}

Result<void> SlotStates::wrote(const rocksdb::Status& status) const {
  return checked(status, "cannot write " + tables_.dir());
}

}  // namespace halite::storage::engine
