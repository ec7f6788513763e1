// A table that passes all calls on; tests override those that they change.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "storage/api/wide_column.h"

namespace halite::test {

class ForwardingTable : public storage::Table {
 public:
  explicit ForwardingTable(std::shared_ptr<storage::Table> inner) : inner_(std::move(inner)) {}

  Task<void> write(std::vector<storage::RowWrite> rows) override {
    return inner_->write(std::move(rows));
  }
  Task<std::vector<storage::Row>> read(std::vector<storage::RowRead> reads) override {
    return inner_->read(std::move(reads));
  }
  std::unique_ptr<storage::Scanner> scan(storage::ScanSpec spec,
                                         const storage::ReadContext& context) override {
    return inner_->scan(std::move(spec), context);
  }
  Task<std::int64_t> increment(Bytes row, storage::Column column, std::int64_t delta) override {
    return inner_->increment(std::move(row), std::move(column), delta);
  }
  Task<storage::CasOutcome> compare_and_put(Bytes row, storage::Column column,
                                            std::optional<Bytes> expected, Bytes value) override {
    return inner_->compare_and_put(std::move(row), std::move(column), std::move(expected),
                                   std::move(value));
  }

 protected:
  const std::shared_ptr<storage::Table> inner_;
};

}  // namespace halite::test
