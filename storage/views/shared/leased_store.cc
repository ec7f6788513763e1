#include "storage/views/shared/leased_store.h"

#include <utility>
#include <vector>

namespace halite::storage {
namespace {

class LeasedTable final : public Table {
 public:
  LeasedTable(std::shared_ptr<Table> inner, const ViewLease& lease, std::uint64_t term)
      : inner_(std::move(inner)), lease_(lease), term_(term) {}

  Task<void> write(std::vector<RowWrite> rows) override {
    CO_TRY(const WriteEnd end, lease_.may_write(term_));
    co_return co_await inner_->write_until(std::move(rows), end);
  }
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override {
    return inner_->read(std::move(reads));
  }
  [[nodiscard]] std::unique_ptr<Scanner> scan(ScanSpec spec, const ReadContext& context) override {
    return inner_->scan(std::move(spec), context);
  }
  Task<std::int64_t> increment(Bytes, Column, std::int64_t) override {
    co_return fail(Errc::kUnsupported, "a leased table has no increments");
  }
  Task<CasOutcome> compare_and_put(Bytes, Column, std::optional<Bytes>, Bytes) override {
    co_return fail(Errc::kUnsupported, "a leased table has no compare-and-put");
  }

 private:
  const std::shared_ptr<Table> inner_;
  const ViewLease& lease_;
  const std::uint64_t term_;
};

}  // namespace

Task<std::shared_ptr<Table>> LeasedStore::open_table(TableSpec spec) {
  auto opening = inner_.open_table(std::move(spec));
  CO_TRY(std::shared_ptr<Table> table, co_await std::move(opening));
  co_return std::make_shared<LeasedTable>(std::move(table), lease_, term_);
}

}  // namespace halite::storage
