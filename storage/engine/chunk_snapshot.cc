#include "storage/engine/chunk_snapshot.h"

#include <algorithm>
#include <utility>

#include "storage/rocks/status.h"

namespace halite::storage::engine {
namespace {

// A key that is wanted is often close behind: so many steps before a seek.
constexpr int kStepsBeforeSeek = 8;

rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }

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
}

Cursor::Cursor(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family,
               const rocksdb::Snapshot* snapshot, Bytes begin, Bytes end)
    : begin_(std::move(begin)), end_(std::move(end)), lower_(begin_), upper_(end_) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  options.iterate_lower_bound = &lower_;
  options.iterate_upper_bound = &upper_;
  iterator_.reset(db.NewIterator(options, family));
}

void Cursor::seek(BytesView key) {
  sought_.clear();
  iterator_->Seek(slice(key));
}

void Cursor::next() { iterator_->Next(); }

void Cursor::advance(BytesView key) {
  const int steps = !sought_.empty() && key > sought_ ? kStepsBeforeSeek : 0;
  for (int step = 0; step < steps && valid(); ++step) {
    if (this->key() >= key) {
      sought_ = key;
      return;
    }
    next();
  }
  iterator_->Seek(slice(key));
  sought_ = key;
}

bool Cursor::valid() const { return iterator_->Valid(); }
BytesView Cursor::key() const { return iterator_->key().ToStringView(); }
BytesView Cursor::value() const { return iterator_->value().ToStringView(); }
Result<void> Cursor::status() const {
  return rocks::checked(iterator_->status(), "cannot read chunks");
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
  if (cursors.summaries != nullptr && !cursors.summaries->status()) return;
  const std::lock_guard lock(mutex_);
  if (idle_[shard].size() < kIdleMax) idle_[shard].push_back(std::move(cursors));
}

std::unique_ptr<Cursor> Snapshot::chunk_cursor(std::uint32_t shard) const {
  return std::make_unique<Cursor>(db_, families_.chunks, snapshot_, shard_begin(shard),
                                  shard_end(shard));
}

std::unique_ptr<Cursor> Snapshot::summary_cursor(std::uint32_t shard) const {
  return std::make_unique<Cursor>(db_, families_.summaries, snapshot_, shard_begin(shard),
                                  shard_end(shard));
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

Cursor& ShardView::summaries() {
  if (cursors_.summaries == nullptr) cursors_.summaries = snapshot_->summary_cursor(shard_);
  return *cursors_.summaries;
}

chunk::Decoder& ShardView::decoder() {
  if (cursors_.decoder == nullptr) cursors_.decoder = std::make_unique<chunk::Decoder>();
  return *cursors_.decoder;
}

}  // namespace halite::storage::engine
