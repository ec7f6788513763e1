#include "storage/backends/rocks/table.h"

#include <utility>

#include <fmt/format.h>

#include "common/threads/offload.h"
#include "storage/backends/rocks/estimate.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/key.h"
#include "storage/backends/rocks/read.h"
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

Task<void> RocksTable::update(Bytes row, Column column, Decide decide) {
  CO_TRY_VOID(check_row_key(row));
  CO_TRY_VOID(check_family(column.family, families_.size()));
  CO_TRY_VOID(context_->check_open());
  const FamilyHandle& family = families_[column.family];
  Bytes key = cell_key(row, column.qualifier);
  // The committer reads the cell itself. This read brings it into memory first, so that the one
  // thread that writes does not wait for a disk.
  auto warm_up = [context = context_, &family, key]() -> Result<void> {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status =
        context->database->db().Get({}, family.column_family, key, &value);
    if (status.IsNotFound()) return {};
    return context->damage.noted(checked(status, "cannot read"));
  };
  CO_TRY_VOID(co_await offload(context_->pool, std::move(warm_up)));
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
