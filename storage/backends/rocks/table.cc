#include "storage/backends/rocks/table.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/threads/offload.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/key.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage::rocks {

namespace {

// Runs a CellScan on the pool. A running next() keeps the scan alive.
class RocksScanner final : public Scanner {
 public:
  RocksScanner(std::shared_ptr<RocksContext> context, const std::vector<FamilyHandle>& families,
               ScanSpec spec, const ReadContext& read)
      : context_(std::move(context)), checked_(check_scan(spec, families.size())) {
    if (!checked_) return;
    const FamilyHandle& family = families[spec.family];
    auto scan = std::make_unique<CellScan>(*context_->database, family, std::move(spec), read);
    context_->scans.add(scan.get());
    scan_ = std::shared_ptr<CellScan>(scan.release(), [context = context_](CellScan* done) {
      context->scans.remove(done);
      delete done;
    });
  }

  Task<std::vector<Row>> next(ScanLimit limit) override {
    if (!checked_) co_return std::unexpected(checked_.error());
    CO_TRY_VOID(check_scan_limit(limit));
    while (true) {
      CO_TRY_VOID(context_->check_open());
      auto job = [scan = scan_, context = context_, limit] {
        return context->damage.noted(scan->next(limit, context->times.now_ms()));
      };
      CO_TRY(CellScan::Batch batch, co_await offload(context_->pool, std::move(job)));
      if (batch.finished || !batch.rows.empty()) co_return std::move(batch.rows);
    }
  }

 private:
  const std::shared_ptr<RocksContext> context_;
  const Result<void> checked_;
  std::shared_ptr<CellScan> scan_;
};

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

// See Table::read(). The caller has checked the reads. Each row is consistent. Blocks.
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

std::uint64_t property(Database& database, const FamilyHandle& family, const std::string& name) {
  std::uint64_t value = 0;
  return database.db().GetIntProperty(family.column_family, name, &value) ? value : 0;
}

std::uint64_t cells_in_memory(Database& database, const FamilyHandle& family) {
  using Properties = rocksdb::DB::Properties;
  return property(database, family, Properties::kNumEntriesActiveMemTable) +
         property(database, family, Properties::kNumEntriesImmMemTables);
}

// Cells for each byte of the files.
double cells_a_byte(Database& database, const FamilyHandle& family) {
  using Properties = rocksdb::DB::Properties;
  const std::uint64_t bytes = property(database, family, Properties::kLiveSstFilesSize);
  const std::uint64_t all = property(database, family, Properties::kEstimateNumKeys);
  const std::uint64_t in_memory = cells_in_memory(database, family);
  if (bytes == 0 || all <= in_memory) return 0;
  return static_cast<double>(all - in_memory) / static_cast<double>(bytes);
}

// See Table::estimate(). Bytes come from file indexes and memtables. Cells in files are their bytes
// divided by the family's average; cells in memtables come from the memtables. Blocks for a few
// index reads.
Result<RangeEstimate> estimate_ranges(Database& database, const FamilyHandle& family,
                                      const std::vector<KeyRange>& ranges) {
  if (ranges.empty()) return RangeEstimate{};
  const Bytes behind_all(kRowKeyBytesMax, '\xff');
  std::vector<Bytes> keys;  // begin and end of each range
  keys.reserve(ranges.size() * 2);
  for (const KeyRange& range : ranges) {
    keys.push_back(range.begin.empty() ? Bytes() : row_prefix(range.begin));
    keys.push_back(range.end.empty() ? behind_all : row_prefix(range.end));
  }
  std::vector<rocksdb::Range> asked;
  asked.reserve(ranges.size());
  for (std::size_t i = 0; i < keys.size(); i += 2) asked.emplace_back(keys[i], keys[i + 1]);

  rocksdb::SizeApproximationOptions files;
  files.include_files = true;
  files.include_memtables = false;
  std::vector<std::uint64_t> sizes(asked.size());
  const rocksdb::Status status = database.db().GetApproximateSizes(
      files, family.column_family, asked.data(), static_cast<int>(asked.size()), sizes.data());
  TRY_VOID(checked(status, "cannot estimate"));
  RangeEstimate sum;
  for (const std::uint64_t size : sizes) sum.bytes += size;
  sum.cells =
      static_cast<std::uint64_t>(static_cast<double>(sum.bytes) * cells_a_byte(database, family));
  RangeEstimate memory;
  for (const rocksdb::Range& range : asked) {
    std::uint64_t cells = 0;
    std::uint64_t bytes = 0;
    database.db().GetApproximateMemTableStats(family.column_family, range, &cells, &bytes);
    memory.cells += cells;
    memory.bytes += bytes;
  }
  // RocksDB estimates a range from the height of the skip list at its ends. The result may exceed
  // the total.
  const std::uint64_t most = cells_in_memory(database, family);
  if (memory.cells > most) {
    memory.bytes = memory.bytes / memory.cells * most;
    memory.cells = most;
  }
  sum.cells += memory.cells;
  sum.bytes += memory.bytes;
  return sum;
}

Result<std::int64_t> incremented(std::optional<BytesView> current, std::int64_t delta) {
  if (!current) return delta;
  if (current->size() != sizeof(std::uint64_t)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("increment of a cell of {} bytes, a counter has 8", current->size()));
  }
  // Unsigned, because a counter wraps, as in HBase.
  const auto before = load_be<std::uint64_t>(current->data());
  return static_cast<std::int64_t>(before + static_cast<std::uint64_t>(delta));
}

}  // namespace

RocksTable::RocksTable(std::shared_ptr<RocksContext> context, std::vector<FamilyHandle> families)
    : context_(std::move(context)), families_(std::move(families)) {}

Task<void> RocksTable::write(std::vector<RowWrite> rows) {
  CO_TRY_VOID(check_writes(rows, families_.size()));
  const std::size_t bytes = CellBatch::bytes_of(rows);
  if (bytes > context_->options.write_bytes_max) {
    co_return fail(
        Errc::kTooLarge,
        fmt::format("a write of {} bytes exceeds the limit of {} bytes (rocksdb.write_bytes_max)",
                    bytes, context_->options.write_bytes_max));
  }
  if (rows.empty()) co_return Result<void>();
  co_return co_await context_->committer.write(std::move(rows), families_);
}

Task<std::vector<Row>> RocksTable::read(std::vector<RowRead> reads) {
  CO_TRY_VOID(check_reads(reads, families_.size()));
  CO_TRY_VOID(context_->check_open());
  auto job = [context = context_, families = &families_, reads = std::move(reads)]() mutable {
    return context->damage.noted(
        read_rows(*context->database, *families, std::move(reads), context->times.now_ms()));
  };
  co_return co_await offload(context_->pool, std::move(job));
}

std::unique_ptr<Scanner> RocksTable::scan(ScanSpec spec, const ReadContext& read) {
  return std::make_unique<RocksScanner>(context_, families_, std::move(spec), read);
}

Task<RangeEstimate> RocksTable::estimate(Family family, std::vector<KeyRange> ranges) {
  CO_TRY_VOID(check_family(family, families_.size()));
  CO_TRY_VOID(context_->check_open());
  auto job = [context = context_, handle = &families_[family], ranges = std::move(ranges)] {
    return estimate_ranges(*context->database, *handle, ranges);
  };
  co_return co_await offload(context_->pool, std::move(job));
}

Task<void> RocksTable::warm_up(std::vector<Committer::CellKey> cells) {
  std::erase_if(cells, [this](const auto& cell) { return context_->committer.knows(cell); });
  if (cells.empty()) co_return Result<void>();
  auto reading = [context = context_, cells = std::move(cells)]() -> Result<void> {
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    std::vector<rocksdb::Slice> keys;
    for (const Committer::CellKey& cell : cells) {
      families.push_back(cell.family.column_family);
      keys.emplace_back(cell.key);
    }
    std::vector<rocksdb::PinnableSlice> values(cells.size());
    std::vector<rocksdb::Status> statuses(cells.size());
    context->database->db().MultiGet({}, cells.size(), families.data(), keys.data(), values.data(),
                                     statuses.data());
    for (const rocksdb::Status& status : statuses) {
      if (status.IsNotFound()) continue;
      TRY_VOID(context->damage.noted(checked(status, "cannot read")));
    }
    return {};
  };
  co_return co_await offload(context_->pool, std::move(reading));
}

Task<std::vector<AddOutcome>> RocksTable::add(std::vector<CounterAdd> adds) {
  CO_TRY_VOID(check_adds(adds, families_.size()));
  CO_TRY_VOID(context_->check_open());
  std::vector<Committer::CellAdd> cell_adds;
  cell_adds.reserve(adds.size());
  std::vector<Committer::CellKey> cells;
  for (CounterAdd& add : adds) {
    Committer::CellAdd& to = cell_adds.emplace_back();
    const Bytes prefix = row_prefix(add.row);
    const auto cell_of = [&](const Column& column) {
      return cells.emplace_back(families_[column.family], prefix + column.qualifier);
    };
    for (const CounterAdd::Delta& one : add.deltas) {
      to.cells.push_back(cell_of(one.column));
      to.deltas.push_back(one.delta);
    }
    if (add.once) to.once = cell_of(*add.once);
  }
  adds = {};
  CO_TRY_VOID(co_await warm_up(std::move(cells)));
  co_return co_await context_->committer.add(std::move(cell_adds));
}

Task<void> RocksTable::update(Bytes row, Column column, Decide decide) {
  CO_TRY_VOID(check_row_key(row));
  CO_TRY_VOID(check_family(column.family, families_.size()));
  CO_TRY_VOID(context_->check_open());
  const FamilyHandle& family = families_[column.family];
  Bytes key = cell_key(row, column.qualifier);
  std::vector<Committer::CellKey> cells(1, {family, key});
  CO_TRY_VOID(co_await warm_up(std::move(cells)));
  co_return co_await context_->committer.update(family, std::move(key), std::move(decide));
}

Task<std::int64_t> RocksTable::increment(Bytes row, Column column, std::int64_t delta) {
  std::int64_t sum = 0;
  Decide decide = [&sum, delta](std::optional<BytesView> current) -> Result<std::optional<Bytes>> {
    TRY(sum, incremented(current, delta));
    Bytes counter;
    append_be(counter, static_cast<std::uint64_t>(sum));
    return counter;
  };
  CO_TRY_VOID(co_await update(std::move(row), std::move(column), std::move(decide)));
  co_return sum;
}

Task<CasOutcome> RocksTable::compare_and_put(Bytes row, Column column,
                                             std::optional<Bytes> expected, Bytes value) {
  CasOutcome outcome = CasOutcome::kUnknown;
  Decide decide = [&](std::optional<BytesView> current) -> Result<std::optional<Bytes>> {
    const bool as_expected =
        current == (expected ? std::optional<BytesView>(*expected) : std::nullopt);
    outcome = as_expected ? CasOutcome::kApplied : CasOutcome::kRefused;
    if (!as_expected) return std::nullopt;
    return std::move(value);
  };
  CO_TRY_VOID(co_await update(std::move(row), std::move(column), std::move(decide)));
  co_return outcome;
}

}  // namespace halite::storage::rocks
