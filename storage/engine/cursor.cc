#include "storage/engine/cursor.h"

#include <algorithm>
#include <utility>

#include "storage/engine/chunk_families.h"
#include "storage/engine/file_shards.h"
#include "storage/rocks/status.h"

namespace halite::storage::engine {
namespace {

// A key that is wanted is often close behind: so many steps before a seek.
constexpr int kStepsBeforeSeek = 8;

// So much of keys is looked for, or more where the one that it begins at is longer.
constexpr std::size_t kSearchedBytesMin = 64;

// (a + b) / 2 of two numbers of one length.
Bytes between(const Bytes& a, const Bytes& b) {
  Bytes middle(a.size(), '\0');
  unsigned carry = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    carry += static_cast<unsigned char>(a[i]);
    carry += static_cast<unsigned char>(b[i]);
    middle[i] = static_cast<char>(carry);
    carry >>= 8;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const unsigned both = carry << 8 | static_cast<unsigned char>(middle[i]);
    middle[i] = static_cast<char>(both >> 1);
    carry = both & 1;
  }
  return middle;
}

// a + 2^bit, less where that is no number of so many bytes any more.
Bytes raised(const Bytes& a, std::size_t bit) {
  Bytes sum = a;
  if (bit / 8 >= sum.size()) return Bytes(a.size(), '\0');
  unsigned carry = 1U << (bit % 8);
  for (std::size_t i = sum.size() - bit / 8; carry > 0 && i-- > 0;) {
    carry += static_cast<unsigned char>(sum[i]);
    sum[i] = static_cast<char>(carry);
    carry >>= 8;
  }
  return sum;
}

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
  // One that has failed goes on failing in RocksDB 7.8, also where nothing is damaged.
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

// What stands behind in the index of a file is not read then.
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

Cursor::Cursor(rocksdb::DB& db, Over over, const rocksdb::Snapshot* snapshot, Bytes begin,
               Bytes end, ReadFrom from)
    : damage_(over.damage),
      begin_(std::move(begin)),
      end_(std::move(end)),
      lower_(begin_),
      upper_(end_) {
  options_.snapshot = snapshot;
  ignore_removed_ranges(options_);
  if (from == ReadFrom::kMemory) options_.read_tier = rocksdb::kBlockCacheTier;
  options_.iterate_lower_bound = &lower_;
  options_.iterate_upper_bound = &upper_;
  options_.table_filter = files_of_shards(begin_, end_);
  // Late ones first: what sealing takes from them is in the others before it is gone from them.
  if (over.late != nullptr) late_.open(db, options_, over.late);
  main_.open(db, options_, over.family);
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

// A seek to any key up to the damaged ones' end meets them, to any behind does not. Ever further
// away first, so as not to pass over what lies before the next damage; then by halves.
Result<bool> Cursor::seek_behind_damage(BytesView from) {
  // Longer than `from`, so that what is found lies behind it.
  const std::size_t size = std::max(kSearchedBytesMin, from.size() + 1);
  const auto sized = [size](BytesView key) {
    Bytes bytes(key.substr(0, size));
    bytes.resize(size, '\0');
    return bytes;
  };
  Bytes damaged = sized(from);
  Bytes behind = end_.empty() ? Bytes(size, '\xFF') : sized(end_);
  const Bytes begin = damaged;
  for (std::size_t bit = 0;; ++bit) {
    Bytes further = raised(begin, bit);
    if (further <= begin || further >= behind) break;
    TRY(const bool read, can_read(further));
    (read ? behind : damaged) = std::move(further);
    if (read) break;
  }
  for (;;) {
    Bytes middle = between(damaged, behind);
    if (middle <= damaged || middle >= behind) break;
    TRY(const bool read, can_read(middle));
    (read ? behind : damaged) = std::move(middle);
  }
  seek(behind);
  return valid();
}

Result<bool> Cursor::pass_damage(BytesView from, bool* met) {
  if (valid()) return true;
  const Result<void> found = status();
  if (found) return false;
  if (found.error().code != Errc::kCorruption) return std::unexpected(found.error());
  if (met != nullptr) *met = true;
  return seek_behind_damage(from);
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
