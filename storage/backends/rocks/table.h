// One table of a RocksStore. Reads and scans run on the store's pool, writes on its committer.
#pragma once

#include <memory>
#include <vector>

#include "storage/api/wide_column.h"
#include "storage/backends/rocks/rocks_context.h"

namespace halite::storage::rocks {

class RocksTable final : public Table {
 public:
  RocksTable(std::shared_ptr<RocksContext> context, std::vector<FamilyHandle> families);

  Task<void> write(std::vector<RowWrite> rows) override;
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override;
  std::unique_ptr<Scanner> scan(ScanSpec spec, const ReadContext& context) override;
  Task<RangeEstimate> estimate(Family family, std::vector<KeyRange> ranges) override;
  Task<std::vector<AddOutcome>> add(std::vector<CounterAdd> adds) override;
  Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) override;
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override;
  [[nodiscard]] TimestampMs newest_stamp() const override { return context_->times.seen(); }

 private:
  // Brings cells into memory, so that the one thread that writes does not wait for a disk.
  Task<void> warm_up(std::vector<Committer::CellKey> cells);
  // Reads a cell, calls `decide` with its value, and writes the result.
  Task<void> update(Bytes row, Column column, Decide decide);

  const std::shared_ptr<RocksContext> context_;
  const std::vector<FamilyHandle> families_;
};

}  // namespace halite::storage::rocks
