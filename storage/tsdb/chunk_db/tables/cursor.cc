#include "storage/tsdb/chunk_db/tables/cursor.h"

#include <utility>

#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/inspect/damage_search.h"
#include "storage/tsdb/chunk_db/tables/chunk_families.h"
#include "storage/tsdb/chunk_db/tables/file_shards.h"

namespace halite::storage::engine {
namespace {

// A wanted key is often close: this many steps before a seek.
constexpr int kStepsBeforeSeek = 8;

}  // namespace

void Cursor::Source::open(rocksdb::DB& db, const rocksdb::ReadOptions& options,
                          rocksdb::ColumnFamilyHandle* family) {
  db_ = &db;
  options_ = &options;
  family_ = family;
  iterator_.reset(db.NewIterator(options, family));
}

void Cursor::Source::seek(BytesView key, BytesView wanted) {
  if (iterator_ == nullptr) return;
  // In RocksDB 7.8 an iterator that failed once keeps failing, even where nothing is damaged.
  if (failed() || !narrow_end_.empty()) {
    iterator_.reset(db_->NewIterator(*options_, family_));
    narrow_end_.clear();
    known_ = false;
  }
  if (known_ && from_ <= key && (!valid() || this->key() >= key)) return;
  iterator_->Seek({key.data(), key.size()});
  from_.assign(key);
  moved(wanted);
}

void Cursor::Source::next(BytesView wanted) {
  from_.assign(key());
  from_.push_back('\0');  // the next possible key
  iterator_->Next();
  moved(wanted);
}

void Cursor::Source::moved(BytesView wanted) {
  known_ = iterator_->Valid() || iterator_->status().ok();
  if (!known_ && narrow_end_.empty() && !wanted.empty()) narrow(wanted);
}

// Limits the iterator to these keys, so that it does not read later blocks.
void Cursor::Source::narrow(BytesView wanted) {
  iterator_.reset();
  narrow_end_ = prefix_end(wanted);
  narrow_upper_ = narrow_end_;
  rocksdb::ReadOptions options = *options_;
  options.iterate_upper_bound = &narrow_upper_;
  iterator_.reset(db_->NewIterator(options, family_));
  iterator_->Seek(from_);
}

rocksdb::Status Cursor::Source::status() const {
  return iterator_ == nullptr ? rocksdb::Status::OK() : iterator_->status();
}

Cursor::Cursor(rocksdb::DB& db, CursorFamilies cursor_families, const rocksdb::Snapshot* snapshot,
               Bytes begin, Bytes end, ReadSource from)
    : damage_(cursor_families.damage),
      begin_(std::move(begin)),
      end_(std::move(end)),
      lower_(begin_),
      upper_(end_) {
  options_.snapshot = snapshot;
  ignore_removed_ranges(options_);
  if (from == ReadSource::kMemory) options_.read_tier = rocksdb::kBlockCacheTier;
  options_.iterate_lower_bound = &lower_;
  options_.iterate_upper_bound = &upper_;
  options_.table_filter = files_of_shards(begin_, end_);
  // Open late cells first: sealing adds them to the other family before it removes them here.
  if (cursor_families.late != nullptr) late_.open(db, options_, cursor_families.late);
  main_.open(db, options_, cursor_families.family);
}

void Cursor::choose() {
  at_late_ = late_.valid() && (!main_.valid() || late_.key() < main_.key());
  failed_ = main_.failed() || late_.failed();
}

void Cursor::seek(BytesView key) {
  sought_.clear();
  main_.seek(key, {});
  late_.seek(key, {});
  choose();
}

void Cursor::next() {
  (at_late_ ? late_ : main_).next(wanted());
  choose();
}

void Cursor::advance(BytesView key, BytesView wanted_part) {
  const int steps = !sought_.empty() && key > sought_ ? kStepsBeforeSeek : 0;
  sought_.assign(key);
  wanted_bytes_ = wanted_part.size();
  bool there = false;
  for (int step = 0; step < steps && valid() && !there; ++step) {
    there = this->key() >= key;
    if (!there) next();
  }
  if (there) return;
  main_.seek(key, wanted());
  late_.seek(key, wanted());
  choose();
}

Result<bool> Cursor::seek_past_damage(BytesView from) {
  const auto readable = [this](BytesView key) { return can_read(key); };
  TRY(const Bytes behind, rocks::key_past_damage(from, end_, readable));
  seek(behind);
  return valid();
}

Result<bool> Cursor::skip_damage(BytesView from, bool* met) {
  if (valid()) return true;
  const Result<void> found = status();
  if (found) return false;
  if (found.error().code != Errc::kCorruption) return std::unexpected(found.error());
  if (met != nullptr) *met = true;
  return seek_past_damage(from);
}

Result<bool> Cursor::can_read(BytesView key) {
  seek(key);
  const Result<void> found = outcome();
  if (!found && found.error().code != Errc::kCorruption) return std::unexpected(found.error());
  return found.has_value();
}

Result<void> Cursor::outcome() const {
  TRY_VOID(rocks::checked(main_.status(), "cannot read chunks"));
  return rocks::checked(late_.status(), "cannot read late chunks");
}

Result<void> Cursor::status() const {
  Result<void> found = outcome();
  if (!found && damage_ != nullptr) damage_->note(found.error());
  return found;
}

}  // namespace halite::storage::engine
