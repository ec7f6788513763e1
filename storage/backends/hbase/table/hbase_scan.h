// Scans of an HBaseTable: the seam's ranges, limits and filters over the client's scanner.
//
// What a region server can decide it is told: ranges, qualifiers, times, keys only, and what the
// keys of wanted rows look like. A RowFilter is asked here, as rows come.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "storage/api/wide_column.h"
#include "storage/backends/hbase/messages/scan.h"

namespace halite::storage {

class HBaseTable;

// What a scanner of this would ask of region servers.
[[nodiscard]] std::vector<ScanDescription> describe_hbase_scan(const ScanSpec& spec,
                                                               const HBaseTable& table);

class HBaseScanner final : public Scanner, public PackedScanner {
 public:
  HBaseScanner(std::shared_ptr<const HBaseTable> table, ScanSpec spec, ReadContext context);
  ~HBaseScanner() override;

  Task<std::vector<Row>> next(ScanLimit limit) override;
  // One answer of a server at a time.
  Task<PackedRows> next_packed(ScanLimit limit) override;

 private:
  // Until a batch can be made that is cut only where the limit says, or nothing more comes.
  Task<void> fill(ScanLimit limit);
  [[nodiscard]] bool enough(ScanLimit limit) const;
  void start_next();
  // What comes next and is wanted; none when all is finished.
  Task<PackedRows> next_wanted();
  // Drops what is not wanted.
  Result<void> sift(PackedRows& rows);
  Result<void> begin_row(BytesView key);
  void take(const PackedRows& rows);

  const std::shared_ptr<const HBaseTable> table_;
  const ScanSpec spec_;
  const ReadContext context_;
  const Result<void> checked_;
  std::vector<hbase::ScanRequest> requests_;  // still to be done, last first
  std::unique_ptr<hbase::Scanner> scanner_;   // null: between two requests, or finished

  // What has come and was not handed out; the last row may still grow.
  std::deque<Row> rows_;
  std::size_t cells_ = 0;  // in them
  Bytes row_;              // the one under way
  bool in_row_ = false;
  bool wanted_ = false;      // its filter's word
  bool row_began_ = false;   // a cell of it was wanted
  std::uint32_t asked_ = 0;  // rows since the context was checked
};

}  // namespace halite::storage
