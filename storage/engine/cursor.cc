#include "storage/engine/cursor.h"

#include <utility>

#include "storage/rocks/status.h"

namespace halite::storage::engine {
namespace {

// A key that is wanted is often close behind: so many steps before a seek.
constexpr int kStepsBeforeSeek = 8;

}  // namespace

void Cursor::Source::seek(BytesView key) {
  if (iterator_ == nullptr) return;
  if (known_ && from_ <= key && (!valid() || this->key() >= key)) return;
  iterator_->Seek({key.data(), key.size()});
  from_.assign(key);
  moved();
}

void Cursor::Source::next() {
  from_.assign(key());
  from_.push_back('\0');  // the next possible key
  iterator_->Next();
  moved();
}

rocksdb::Status Cursor::Source::status() const {
  return iterator_ == nullptr ? rocksdb::Status::OK() : iterator_->status();
}

Cursor::Cursor(rocksdb::DB& db, Over over, const rocksdb::Snapshot* snapshot, Bytes begin,
               Bytes end, ReadFrom from)
    : begin_(std::move(begin)), end_(std::move(end)), lower_(begin_), upper_(end_) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  if (from == ReadFrom::kMemory) options.read_tier = rocksdb::kBlockCacheTier;
  options.iterate_lower_bound = &lower_;
  options.iterate_upper_bound = &upper_;
  // Late ones first: what sealing takes from them is in the others before it is gone from them.
  if (over.late != nullptr) late_.open(db.NewIterator(options, over.late));
  main_.open(db.NewIterator(options, over.family));
}

void Cursor::choose() { at_late_ = late_.valid() && (!main_.valid() || late_.key() < main_.key()); }

void Cursor::seek(BytesView key) {
  sought_.clear();
  main_.seek(key);
  late_.seek(key);
  choose();
}

void Cursor::next() {
  (at_late_ ? late_ : main_).next();
  choose();
}

void Cursor::advance(BytesView key) {
  const int steps = !sought_.empty() && key > sought_ ? kStepsBeforeSeek : 0;
  bool there = false;
  for (int step = 0; step < steps && valid() && !there; ++step) {
    there = this->key() >= key;
    if (!there) next();
  }
  if (!there) seek(key);
  sought_ = key;
}

Result<void> Cursor::status() const {
  TRY_VOID(rocks::checked(main_.status(), "cannot read chunks"));
  return rocks::checked(late_.status(), "cannot read late chunks");
}

}  // namespace halite::storage::engine
