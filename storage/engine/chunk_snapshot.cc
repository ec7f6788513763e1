#include "storage/engine/chunk_snapshot.h"

#include <algorithm>
#include <utility>

namespace halite::storage::engine {
namespace {

Bytes shard_begin(std::uint32_t shard) { return Bytes(1, static_cast<char>(shard)); }
Bytes shard_end(std::uint32_t shard) {
  return shard == 0xFF ? Bytes(64, '\xFF') : Bytes(1, static_cast<char>(shard + 1));
}

}  // namespace

void Unsealed::add(const Unsealed& more) {
  if (more.begin_ms < more.end_ms) {
    begin_ms = begin_ms < end_ms ? std::min(begin_ms, more.begin_ms) : more.begin_ms;
    end_ms = std::max(end_ms, more.end_ms);
  }
  without_summary |= more.without_summary;
  ++touches;
}

Snapshot::Snapshot(rocksdb::DB& db, Families families)
    : db_(db), families_(families), snapshot_(db.GetSnapshot()), idle_(kShardsMax) {}

Snapshot::~Snapshot() {
  idle_.clear();
  db_.ReleaseSnapshot(snapshot_);
}

Snapshot::Cursors Snapshot::take(std::uint32_t shard) {
  const std::lock_guard lock(mutex_);
  std::vector<Cursors>& idle = idle_[shard];
  if (idle.empty()) return {};
  Cursors cursors = std::move(idle.back());
  idle.pop_back();
  return cursors;
}

void Snapshot::give_back(std::uint32_t shard, Cursors cursors) {
  // Where one failed, the next question tries anew.
  if (cursors.chunks != nullptr && !cursors.chunks->status()) return;
  if (cursors.late != nullptr && !cursors.late->status()) return;
  if (cursors.summaries != nullptr && !cursors.summaries->status()) return;
  const std::lock_guard lock(mutex_);
  if (idle_[shard].size() < kIdleMax) idle_[shard].push_back(std::move(cursors));
}

std::unique_ptr<Cursor> Snapshot::chunk_cursor(std::uint32_t shard) const {
  return std::make_unique<Cursor>(db_, Cursor::Over{families_.chunks, families_.late}, snapshot_,
                                  shard_begin(shard), shard_end(shard));
}

std::unique_ptr<Cursor> Snapshot::late_cursor(std::uint32_t shard) const {
  return std::make_unique<Cursor>(db_, Cursor::Over{families_.late}, snapshot_, shard_begin(shard),
                                  shard_end(shard));
}

std::unique_ptr<Cursor> Snapshot::summary_cursor(std::uint32_t shard) const {
  return std::make_unique<Cursor>(db_, Cursor::Over{families_.summaries}, snapshot_,
                                  shard_begin(shard), shard_end(shard));
}

ShardView::ShardView(std::shared_ptr<Snapshot> snapshot, std::uint32_t shard)
    : snapshot_(std::move(snapshot)), shard_(shard), cursors_(snapshot_->take(shard)) {}

ShardView::~ShardView() { snapshot_->give_back(shard_, std::move(cursors_)); }

Unsealed ShardView::unsealed(std::uint32_t slot, std::uint32_t generation) const {
  const auto found =
      snapshot_->unsealed->find({.shard = shard_, .slot = slot, .generation = generation});
  return found == snapshot_->unsealed->end() ? Unsealed{} : found->second;
}

Cursor& ShardView::chunks() {
  if (cursors_.chunks == nullptr) cursors_.chunks = snapshot_->chunk_cursor(shard_);
  return *cursors_.chunks;
}

Cursor& ShardView::late() {
  if (cursors_.late == nullptr) cursors_.late = snapshot_->late_cursor(shard_);
  return *cursors_.late;
}

Cursor& ShardView::summaries() {
  if (cursors_.summaries == nullptr) cursors_.summaries = snapshot_->summary_cursor(shard_);
  return *cursors_.summaries;
}

chunk::Decoder& ShardView::decoder() {
  if (cursors_.decoder == nullptr) cursors_.decoder = std::make_unique<chunk::Decoder>();
  return *cursors_.decoder;
}

}  // namespace halite::storage::engine
