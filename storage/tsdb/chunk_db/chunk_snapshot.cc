#include "storage/tsdb/chunk_db/chunk_snapshot.h"

#include <utility>

namespace halite::storage::engine {
namespace {

Bytes shard_begin(std::uint32_t shard) { return Bytes(1, static_cast<char>(shard)); }
Bytes shard_end(std::uint32_t shard) {
  return shard == 0xFF ? Bytes(64, '\xFF') : Bytes(1, static_cast<char>(shard + 1));
}

}  // namespace

Snapshot::Snapshot(rocksdb::DB& db, Families families, bool keeps_cursors)
    : db_(db),
      families_(families),
      keeps_cursors_(keeps_cursors),
      snapshot_(db.GetSnapshot()),
      idle_(kShardsMax),
      idle_memory_(kShardsMax) {}

Snapshot::~Snapshot() {
  idle_.clear();
  idle_memory_.clear();
  db_.ReleaseSnapshot(snapshot_);
}

Snapshot::Cursors Snapshot::take(CursorKind place) {
  const std::lock_guard lock(mutex_);
  std::vector<Cursors>& unused = idle(place);
  if (unused.empty()) return {};
  Cursors cursors = std::move(unused.back());
  unused.pop_back();
  return cursors;
}

void Snapshot::give_back(CursorKind place, Cursors cursors) {
  if (!keeps_cursors_) return;
  // Discards failed cursors, so that the next query retries.
  if (cursors.chunks != nullptr && !cursors.chunks->status()) return;
  if (cursors.late != nullptr && !cursors.late->status()) return;
  if (cursors.summaries != nullptr && !cursors.summaries->status()) return;
  if (cursors.chunks != nullptr) cursors.chunks->forget();
  if (cursors.late != nullptr) cursors.late->forget();
  if (cursors.summaries != nullptr) cursors.summaries->forget();
  const std::lock_guard lock(mutex_);
  std::vector<Cursors>& unused = idle(place);
  if (unused.size() < kIdleMax) unused.push_back(std::move(cursors));
}

std::map<std::uint32_t, std::int64_t> Snapshot::known_slots(std::uint32_t shard) const {
  std::map<std::uint32_t, std::int64_t> slots;
  for (auto line = unsealed->lower_bound({.shard = shard}); line != unsealed->end(); ++line) {
    if (line->first.shard != shard) break;
    slots.emplace(line->first.slot, line->first.period);
  }
  const auto add = [&slots, shard](const std::string& key) {
    const auto partition = partition_of(key);
    if (partition && partition->shard == shard) slots.emplace(partition->slot, partition->period);
  };
  for (rocksdb::ColumnFamilyHandle* const family : {families_.chunks, families_.late}) {
    rocksdb::ColumnFamilyMetaData meta;
    db_.GetColumnFamilyMetaData(family, &meta);
    for (const rocksdb::LevelMetaData& level : meta.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        add(file.smallestkey);
        add(file.largestkey);
      }
    }
  }
  return slots;
}

std::unique_ptr<Cursor> Snapshot::cursor(Cursor::CursorFamilies cursor_families,
                                         CursorKind place) const {
  return std::make_unique<Cursor>(db_, cursor_families, snapshot_, shard_begin(place.shard),
                                  shard_end(place.shard), place.from);
}

std::unique_ptr<Cursor> Snapshot::chunk_cursor(CursorKind place) const {
  return cursor({families_.chunks, families_.late, families_.damage}, place);
}

std::unique_ptr<Cursor> Snapshot::late_cursor(CursorKind place) const {
  return cursor({families_.late, nullptr, families_.damage}, place);
}

std::unique_ptr<Cursor> Snapshot::summary_cursor(CursorKind place) const {
  return cursor({families_.summaries, nullptr, families_.damage}, place);
}

ShardView::ShardView(std::shared_ptr<Snapshot> snapshot, std::uint32_t shard, ReadSource from)
    : snapshot_(std::move(snapshot)),
      place_{.shard = shard, .from = from},
      cursors_(snapshot_->take(place_)) {}

ShardView::~ShardView() { snapshot_->give_back(place_, std::move(cursors_)); }

UnsealedRange ShardView::unsealed(std::uint32_t slot, std::uint32_t period) const {
  const auto found =
      snapshot_->unsealed->find({.shard = place_.shard, .slot = slot, .period = period});
  return found == snapshot_->unsealed->end() ? UnsealedRange{} : found->second;
}

Cursor& ShardView::chunks() {
  if (cursors_.chunks == nullptr) cursors_.chunks = snapshot_->chunk_cursor(place_);
  return *cursors_.chunks;
}

Cursor& ShardView::late() {
  if (cursors_.late == nullptr) cursors_.late = snapshot_->late_cursor(place_);
  return *cursors_.late;
}

Cursor& ShardView::summaries() {
  if (cursors_.summaries == nullptr) cursors_.summaries = snapshot_->summary_cursor(place_);
  return *cursors_.summaries;
}

chunk::Decoder& ShardView::decoder() {
  if (cursors_.decoder == nullptr) cursors_.decoder = std::make_unique<chunk::Decoder>();
  return *cursors_.decoder;
}

}  // namespace halite::storage::engine
