#include "storage/api/wide_column.h"

#include <utility>

namespace halite::storage {
namespace {

PackedRows pack(std::vector<Row> rows) {
  PackedRows packed;
  auto kept = std::make_shared<const std::vector<Row>>(std::move(rows));
  packed.rows.reserve(kept->size());
  for (const Row& row : *kept) {
    const std::size_t begin = packed.cells.size();
    for (const Cell& cell : row.cells) {
      packed.cells.push_back({cell.qualifier, cell.value, cell.time});
    }
    packed.rows.push_back({row.key, begin, packed.cells.size()});
  }
  packed.bytes = std::move(kept);
  return packed;
}

class Packing final : public PackedScanner {
 public:
  explicit Packing(std::unique_ptr<Scanner> scanner) : scanner_(std::move(scanner)) {}

  Task<PackedRows> next_packed(ScanLimit limit) override {
    Task<std::vector<Row>> asking = scanner_->next(limit);
    CO_TRY(std::vector<Row> rows, co_await std::move(asking));
    co_return pack(std::move(rows));
  }

 private:
  const std::unique_ptr<Scanner> scanner_;
};

}  // namespace

std::unique_ptr<PackedScanner> Table::scan_packed(ScanSpec spec, const ReadContext& context) {
  return std::make_unique<Packing>(scan(std::move(spec), context));
}

}  // namespace halite::storage
