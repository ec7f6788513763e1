#include "storage/views/shared/leased_store.h"

#include <utility>
#include <vector>

namespace halite::storage {
namespace {

class LeasedTable final : public Table {
 public:
  LeasedTable(std::shared_ptr<Table> inner, const ViewLease& lease)
      : inner_(std::move(inner)), lease_(lease) {}

  Task<void> write(std::vector<RowWrite> rows) override {
    CO_TRY_VOID(lease_.check());
    co_return co_await inner_->write(std::move(rows));
  }
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override {
    return inner_->read(std::move(reads));
  }
  [[nodiscard]] std::unique_ptr<Scanner> scan(ScanSpec spec, const ReadContext& context) override {
    return inner_->scan(std::move(spec), context);
  }
  Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) override {
    CO_TRY_VOID(lease_.check());
    co_return co_await inner_->increment(std::move(row), std::move(column), delta);
  }
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override {
    CO_TRY_VOID(lease_.check());
    co_return co_await inner_->compare_and_put(std::move(row), std::move(column),
                                               std::move(expected), std::move(value));
  }

 private:
  const std::shared_ptr<Table> inner_;
  const ViewLease& lease_;
};

}  // namespace

Task<std::shared_ptr<Table>> LeasedStore::open_table(TableSpec spec) {
  auto opening = inner_.open_table(std::move(spec));
  CO_TRY(std::shared_ptr<Table> table, co_await std::move(opening));
  co_return std::make_shared<LeasedTable>(std::move(table), lease_);
}

}  // namespace halite::storage
