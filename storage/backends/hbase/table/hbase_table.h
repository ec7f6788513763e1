// One table of HBaseStore: translates calls of the interface to calls of the client.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/api/wide_column.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage {

class HBaseTable final : public Table, public std::enable_shared_from_this<HBaseTable> {
 public:
  // All references outlive the table.
  struct Dependencies {
    hbase::Client& client;
    HybridClock& clock;
    std::string name;
    std::size_t range_filter_max;
    std::int64_t ahead_ms_max = 60'000;  // the clock does not follow cells further ahead
  };
  HBaseTable(Dependencies dependencies, const std::vector<FamilySpec>& families);

  Task<void> write(std::vector<RowWrite> rows) override {
    return write_until(std::move(rows), kNoWriteEnd);
  }
  Task<void> write_until(std::vector<RowWrite> rows, WriteEnd end) override;
  Task<void> append(std::vector<CellAppend> cells) override;
  Task<CasOutcome> replace_cell(Bytes row, Family family, Cell held,
                                std::vector<CellWrite> with) override;
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override;
  [[nodiscard]] std::unique_ptr<Scanner> scan(ScanSpec spec, const ReadContext& context) override;
  [[nodiscard]] std::unique_ptr<PackedScanner> scan_packed(ScanSpec spec,
                                                           const ReadContext& context) override;
  [[nodiscard]] std::vector<ScanDescription> describe_scan(const ScanSpec& spec) const override;
  Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) override;
  Task<std::vector<AddOutcome>> add(std::vector<CounterAdd> adds) override;
  [[nodiscard]] TimestampMs newest_stamp() const override { return dependencies_.clock.seen(); }
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override;

  void set_ttls(const TableSpec& spec);

  // For its scanners.
  [[nodiscard]] const Dependencies& dependencies() const { return dependencies_; }
  [[nodiscard]] const Bytes& family_name(Family family) const { return names_[family]; }
  [[nodiscard]] std::size_t family_count() const { return names_.size(); }
  // Cells with this time or an older one have expired; -1 = none.
  [[nodiscard]] TimestampMs expired_until(Family family) const;

 private:
  // A cell as the region server has it, even if its TTL has passed.
  Task<std::optional<Cell>> read_cell(Bytes row, Column column);
  void follow(TimestampMs time);
  Task<void> hide(std::vector<hbase::RowMutation>& rows, WriteEnd end);
  // Returns the existing cells that are not far ahead, and deletes those that are.
  Task<std::vector<hbase::Row>> remove_far_ahead(std::vector<hbase::RowGet> gets, WriteEnd end);
  // One delete for each version that `whole` affects.
  Task<std::vector<hbase::CellDelete>> by_version(const Bytes& row, hbase::CellDelete whole);
  [[nodiscard]] TimestampMs far_ahead() const;  // cells with a later time are far ahead
  Task<std::int64_t> increment_by_hand(Bytes row, Column column, std::int64_t delta);
  // The additions at these places, of which no two have one row. Sets their outcomes.
  Task<void> add_to_rows(const std::vector<CounterAdd>& adds,
                         const std::vector<std::size_t>& places, std::vector<AddOutcome>& outcomes);
  Task<void> remove_zeros(const CounterAdd& add, const std::vector<hbase::Cell>& counters);
  // Replaces the server's value `found` by `value`.
  Task<CasOutcome> replace(hbase::CellAddress at, std::optional<Cell> found, Bytes value);

  const Dependencies dependencies_;
  std::vector<Bytes> names_;
  std::vector<std::atomic<std::int64_t>> ttls_ms_;
};

}  // namespace halite::storage
