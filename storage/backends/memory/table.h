// A table in sorted maps; internal to memory_store.h.
//
//   Threads  Call from any thread. One lock, never held across an await.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "storage/api/wide_column.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage::memory {

// Rows that a scan visits before it releases the lock. A filter that rejects all rows must not
// block writers.
inline constexpr std::size_t kRowsPerLock = 1024;

struct Stored {
  Bytes value;
  TimestampMs time = 0;
};

using Cells = std::map<Bytes, Stored, std::less<>>;
using Rows = std::map<Bytes, Cells, std::less<>>;

struct FamilyRows {
  Rows rows;
  std::int64_t ttl_ms = 0;
  Bytes swept_to;  // the removal of expired cells continues after this row
};

class MemoryTable final : public Table, public std::enable_shared_from_this<MemoryTable> {
 public:
  MemoryTable(const TableSpec& spec, HybridClock& clock)
      : clock_(clock), specs_(spec.families), families_(spec.families.size()) {
    set_ttls(spec);
  }

  Task<void> write(std::vector<RowWrite> rows) override;
  Task<void> append(std::vector<CellAppend> cells) override;
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override;
  std::unique_ptr<Scanner> scan(ScanSpec spec, const ReadContext& context) override;
  Task<RangeEstimate> estimate(Family family, std::vector<KeyRange> ranges) override;
  Task<std::vector<AddOutcome>> add(std::vector<CounterAdd> adds) override;
  Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) override;
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override;
  Task<CasOutcome> replace_cell(Bytes row, Family family, Cell held,
                                std::vector<CellWrite> with) override;
  [[nodiscard]] TimestampMs newest_stamp() const override { return clock_.seen(); }

  [[nodiscard]] const std::vector<FamilySpec>& specs() const { return specs_; }
  [[nodiscard]] std::size_t family_count() const { return families_.size(); }
  void set_ttls(const TableSpec& spec) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < families_.size(); ++i) {
      families_[i].ttl_ms = spec.families[i].ttl_ms;
    }
  }

 private:
  friend class MemoryScanner;  // memory/scan.cc

  // Hold mutex_ to call these.
  void put(FamilyRows& family, BytesView row, Bytes qualifier, Bytes value, TimestampMs asked);
  void erase(const Bytes& row, const Column& column);
  void sweep(FamilyRows& family, std::size_t rows_max) const;
  AddOutcome add_row(CounterAdd& add);
  const Stored* find(const FamilyRows& family, BytesView row, BytesView qualifier) const;
  Row read_row(RowRead& read) const;
  void read_cells(RowRead& read, const Cells& cells, Row& row) const;

  HybridClock& clock_;
  const std::vector<FamilySpec> specs_;  // names only: the TTLs may change
  mutable std::shared_mutex mutex_;
  std::vector<FamilyRows> families_;  // guarded by mutex_
};

}  // namespace halite::storage::memory
