// The wide-column store: tables of rows with any number of cells, for names, metadata and cell
// points.
//
// MemoryStore, RocksStore and HBaseStore implement it and pass
// tests/unit/storage/api/store_contract. Points have a faster interface: point_store.h.
//
//   Order    row keys and qualifiers compare as unsigned bytes.
//   Keys     1 to 32 767 bytes of any value; other lengths are kInvalidArgument in every call. A
//            scan's bounds follow this rule, except that an empty bound means an open range.
//   Cells    one version each: the greatest time wins, then the last write.
//   Times    a cell written with time 0 gets the store's time, at least the greatest time seen.
//   TTL      a cell expires when its time is ttl_ms or more in the past; 0 = never.
//   Durable  a write is durable when the call has returned.
//   Threads  call from any thread.
//   Views    calls take arguments by value, or use them only until the await ends.
//   Errors   kUnavailable: retry later. kCorruption: do not retry.
//
// Over 140 lines because it is the whole interface to a store of cells.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/cells.h"
#include "storage/api/read_context.h"
#include "storage/api/scan.h"

namespace halite::storage {

struct FamilySpec {
  std::string name;
  std::int64_t ttl_ms = 0;  // 0 = no expiry
};

struct TableSpec {
  std::string name;  // letters, digits, '-' and '_'
  std::vector<FamilySpec> families;
  std::vector<Bytes> split_keys;  // where a store with regions splits the new table
  bool fixed_regions = false;     // the table is never split elsewhere
};

// The approximate size of a scan.
struct RangeEstimate {
  std::uint64_t cells = 0;
  std::uint64_t bytes = 0;  // as stored: compressed if the store compresses
};

enum class CasOutcome : std::uint8_t {
  kApplied,
  kRefused,  // the cell had another value
  kUnknown,  // the response was lost: read the cell to find out
};

using WriteEnd = std::chrono::steady_clock::time_point;
inline constexpr WriteEnd kNoWriteEnd = WriteEnd::max();

class Table {
 public:
  virtual ~Table() = default;

  // Each row is atomic, the batch is not: after an error some rows may be written.
  virtual Task<void> write(std::vector<RowWrite> rows) = 0;

  // Like write(), but no request is sent that could still wait for its turn after `end`. Then it is
  // kUnavailable. Local stores write at once.
  virtual Task<void> write_until(std::vector<RowWrite> rows, WriteEnd end) {
    static_cast<void>(end);
    return write(std::move(rows));
  }

  // Appends once to each cell; no cell may occur twice. An absent cell counts as empty. Each append
  // is atomic, the batch is not. Cells get the store's time. kUnsupported: the store cannot append.
  virtual Task<void> append(std::vector<CellAppend> cells) {
    static_cast<void>(cells);
    co_return fail(Errc::kUnsupported, "this store does not support appends to cells");
  }

  // Atomically replaces a cell with `with` if the cell is unchanged since it was read; an empty
  // `with` deletes it. Later writes to the cell are kept. kUnsupported: the store cannot do this.
  virtual Task<CasOutcome> replace_cell(Bytes row, Family family, Cell held,
                                        std::vector<CellWrite> with) {
    static_cast<void>(row);
    static_cast<void>(family);
    static_cast<void>(held);
    static_cast<void>(with);
    co_return fail(Errc::kUnsupported, "this store does not support conditional replacement");
  }

  // Returns one Row for each read, in order; a row that does not exist has no cells. The call
  // cannot be cancelled: if you need to cancel, read some thousand rows at a time.
  virtual Task<std::vector<Row>> read(std::vector<RowRead> reads) = 0;

  [[nodiscard]] virtual std::unique_ptr<Scanner> scan(ScanSpec spec,
                                                      const ReadContext& context) = 0;

  // Like scan(), with rows as views. The default implementation wraps scan().
  [[nodiscard]] virtual std::unique_ptr<PackedScanner> scan_packed(ScanSpec spec,
                                                                   const ReadContext& context);

  // The requests that a scan sends to servers, in order. Empty for local rows.
  [[nodiscard]] virtual std::vector<ScanDescription> describe_scan(const ScanSpec& spec) const {
    static_cast<void>(spec);
    return {};
  }

  // Estimates the size of scanning these ranges, without reading them, for the cost of a query. It
  // may be wrong by a factor, and small ranges may yield 0. kUnsupported: the store cannot
  // estimate.
  virtual Task<RangeEstimate> estimate(Family family, std::vector<KeyRange> ranges) {
    static_cast<void>(family);
    static_cast<void>(ranges);
    co_return fail(Errc::kUnsupported, "this store does not support estimates");
  }

  // Adds to a big-endian 64-bit counter (absent = 0) and returns the sum. No two callers get an
  // equal sum. A cell of another length is kInvalidArgument.
  virtual Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) = 0;

  // Adds to counters. Returns one outcome for each element, in order. Each element is atomic, the
  // batch is not; elements of one row are applied in order. After an error some elements may be
  // applied; with `once` it is safe to repeat all. kUnsupported: the store cannot do this.
  virtual Task<std::vector<AddOutcome>> add(std::vector<CounterAdd> adds) {
    static_cast<void>(adds);
    co_return fail(Errc::kUnsupported, "this store does not support additions to counters");
  }

  // No cell stamped by the store is newer, in ms since 1970. 0: not known.
  [[nodiscard]] virtual TimestampMs newest_stamp() const { return 0; }

  // Writes the cell if it contains `expected`; nullopt: if the cell does not exist.
  virtual Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                           Bytes value) = 0;
};

// Which versions of Halite may open a local store.
enum class StoreFormat : std::uint8_t {
  kFirst = 1,  // all
  kViews = 2,  // those that keep views equal to the points: not 0.1.0
};

class WideColumnStore {
 public:
  virtual ~WideColumnStore() = default;

  // Opens a table; creates it if it does not exist. The store must outlive it. A table with other
  // families is kConflict. TTLs may differ: the spec's TTLs take effect.
  virtual Task<std::shared_ptr<Table>> open_table(TableSpec spec) = 0;

  // Versions that do not know the format refuse to open the store from now on. Durable. Without
  // effect on a store that other programs share or that does not last.
  virtual Task<void> set_format(StoreFormat format) {
    static_cast<void>(format);
    co_return Result<void>{};
  }

  // kUnavailable with the reason while writes cannot be made durable.
  [[nodiscard]] virtual Result<void> health() const { return {}; }

  // Empties the caches. Call from any thread.
  virtual void drop_caches() {}

  // Waits for running calls, then releases files and threads. Make no calls after it.
  virtual Task<void> close() = 0;
};

}  // namespace halite::storage
