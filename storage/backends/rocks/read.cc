#include "storage/backends/rocks/read.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/key.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage::rocks {

namespace {

// Cells read by name, from any number of rows, in one lookup.
class NamedCells {
 public:
  void add(std::size_t row, const FamilyHandle& family, BytesView key, Bytes qualifier) {
    wanted_.push_back({row, family.ttl_ms->load(), cell_key(key, qualifier), std::move(qualifier)});
    families_.push_back(family.column_family);
  }

  Result<void> read(rocksdb::DB& db, TimestampMs now, std::vector<Row>& rows) {
    if (wanted_.empty()) return {};
    const std::size_t count = wanted_.size();
    std::vector<rocksdb::Slice> keys;
    keys.reserve(count);
    for (const Wanted& wanted : wanted_) keys.emplace_back(wanted.key);
    std::vector<rocksdb::PinnableSlice> values(count);
    std::vector<rocksdb::Status> statuses(count);
    // One call for all: it reads from one snapshot.
    db.MultiGet({}, count, families_.data(), keys.data(), values.data(), statuses.data());
    for (std::size_t i = 0; i < count; ++i) {
      if (statuses[i].IsNotFound()) continue;
      TRY_VOID(checked(statuses[i], "cannot read"));
      TRY(const StoredCell cell, parse_cell_of(wanted_[i].key, values[i].ToStringView()));
      if (is_expired(cell.time, wanted_[i].ttl_ms, now)) continue;
      rows[wanted_[i].row].cells.push_back(
          {std::move(wanted_[i].qualifier), Bytes(cell.value), cell.time});
    }
    return {};
  }

 private:
  struct Wanted {
    std::size_t row = 0;
    std::int64_t ttl_ms = 0;
    Bytes key;
    Bytes qualifier;
  };
  std::vector<Wanted> wanted_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

Result<void> read_whole_row(rocksdb::Iterator& it, std::int64_t ttl_ms, TimestampMs now, Row& row) {
  const Bytes prefix = row_prefix(row.key);
  for (it.Seek(prefix); it.Valid(); it.Next()) {
    const BytesView key = it.key().ToStringView();
    if (!key.starts_with(prefix)) break;
    TRY(const StoredCell cell, parse_cell_of(key, it.value().ToStringView()));
    if (is_expired(cell.time, ttl_ms, now)) continue;
    row.cells.push_back({Bytes(key.substr(prefix.size())), Bytes(cell.value), cell.time});
  }
  return checked(it.status(), "cannot read");
}

}  // namespace

Result<std::vector<Row>> read_rows(Database& database, const std::vector<FamilyHandle>& families,
                                   std::vector<RowRead> reads, TimestampMs now) {
  rocksdb::ReadOptions one_row_at_a_time;
  one_row_at_a_time.prefix_same_as_start = true;  // so that the rows' filters are used
  std::vector<std::unique_ptr<rocksdb::Iterator>> iterators(families.size());
  std::vector<Row> rows(reads.size());
  NamedCells named;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const FamilyHandle& family = families[reads[i].family];
    rows[i].key = std::move(reads[i].row);
    std::vector<Bytes>& qualifiers = reads[i].qualifiers;
    if (qualifiers.empty()) {
      auto& it = iterators[reads[i].family];
      if (it == nullptr) {
        it.reset(database.db().NewIterator(one_row_at_a_time, family.column_family));
      }
      TRY_VOID(read_whole_row(*it, *family.ttl_ms, now, rows[i]));
      continue;
    }
    std::ranges::sort(qualifiers);
    const auto repeated = std::ranges::unique(qualifiers);
    qualifiers.erase(repeated.begin(), repeated.end());
    for (Bytes& qualifier : qualifiers) named.add(i, family, rows[i].key, std::move(qualifier));
  }
  TRY_VOID(named.read(database.db(), now, rows));
  return rows;
}

}  // namespace halite::storage::rocks
