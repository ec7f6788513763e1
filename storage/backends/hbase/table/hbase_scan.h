// Scans of an HBaseTable: implements the interface's ranges, limits and filters over the client's
// scanner.
//
// Region servers apply ranges, qualifiers, times, keys only, and patterns of row keys. A RowFilter
// runs here, as rows arrive.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "storage/api/wide_column.h"
#include "storage/backends/hbase/messages/scan.h"

namespace halite::storage {

class HBaseTable;

// The requests that such a scanner would send to region servers.
[[nodiscard]] std::vector<ScanDescription> describe_hbase_scan(const ScanSpec& spec,
                                                               const HBaseTable& table);

class HBaseScanner final : public Scanner, public PackedScanner {
 public:
  HBaseScanner(std::shared_ptr<const HBaseTable> table, ScanSpec spec, ReadContext context);
  ~HBaseScanner() override;

  Task<std::vector<Row>> next(ScanLimit limit) override;
  // Returns one answer of a server at a time.
  Task<PackedRows> next_packed(ScanLimit limit) override;

 private:
  // Reads until a batch is complete that only the limit cuts, or until the end.
  Task<void> fill(ScanLimit limit);
  [[nodiscard]] bool enough(ScanLimit limit) const;
  void start_next();
  // The next wanted rows; none at the end.
  Task<PackedRows> next_wanted();
  // Removes unwanted rows and cells.
  Result<void> sift(PackedRows& rows);
  Result<void> begin_row(BytesView key);
  void take(const PackedRows& rows);

  const std::shared_ptr<const HBaseTable> table_;
  const ScanSpec spec_;
  const ReadContext context_;
  const Result<void> checked_;
  std::vector<hbase::ScanRequest> requests_;  // not yet sent, last first
  std::unique_ptr<hbase::Scanner> scanner_;   // null: between two requests, or finished

  // Received, but not yet returned; the last row may still grow.
  std::deque<Row> rows_;
  std::size_t cells_ = 0;  // in them
  Bytes row_;              // the current one
  bool in_row_ = false;
  bool wanted_ = false;      // the filter's result for it
  bool row_began_ = false;   // it has a wanted cell
  std::uint32_t asked_ = 0;  // since the last check of the context
};

}  // namespace halite::storage
