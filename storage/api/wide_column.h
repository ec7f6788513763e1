// Tables of rows, each holding any number of cells: the seam under names, metadata and cell points.
//
// MemoryStore, RocksStore and (later) HBaseStore stand behind this door; all pass
// tests/unit/storage/store_contract. Points have a faster one: point_store.h.
//
//   Order    row keys and qualifiers compare as unsigned bytes.
//   Keys     1 to 32 767 bytes, any byte; empty or longer is kInvalidArgument in every call. A
//            scan's bounds follow the same rule, except that an empty one means an open range.
//   Cells    one version each: the greatest time wins, then the last written.
//   Times    a cell written with time 0 gets the store's clock, never below any time it has seen.
//   TTL      a cell is gone once its time is ttl_ms or more in the past; 0 keeps it for ever.
//   Durable  what a mutating call wrote outlives a power cut once the call has returned.
//   Threads  any call may run at the same time as any other on one table.
//   Views    arguments are taken by value, or used only until the await is over.
//   Errors   kUnavailable: try later. kCorruption: do not try again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/task.h"
#include "storage/api/cells.h"
#include "storage/api/read_context.h"
#include "storage/api/scan.h"

namespace halite::storage {

struct FamilySpec {
  std::string name;
  std::int64_t ttl_ms = 0;  // 0 = for ever
};

struct TableSpec {
  std::string name;  // letters, digits, '-' and '_'
  std::vector<FamilySpec> families;
  std::vector<Bytes> split_keys;  // where a store made of regions cuts the new table
  bool fixed_regions = false;     // and never anywhere else
};

// What a scan would read, about.
struct RangeEstimate {
  std::uint64_t cells = 0;
  std::uint64_t bytes = 0;  // as stored: compressed, where the store compresses
};

enum class CasOutcome : std::uint8_t {
  kApplied,
  kRefused,  // the cell held something else
  kUnknown,  // the answer was lost: read to find out
};

class Table {
 public:
  virtual ~Table() = default;

  // Each row is atomic, the batch as a whole is not; an error may leave some rows written.
  virtual Task<void> write(std::vector<RowWrite> rows) = 0;

  // Adds to the ends of cells, none of them named twice, each once; one that is absent counts as
  // empty. Each is atomic, the batch is not. Cells get the store's time. kUnsupported: it cannot.
  virtual Task<void> append(std::vector<CellAppend> cells) {
    static_cast<void>(cells);
    co_return fail(Errc::kUnsupported, "this store does not support appends to cells");
  }

  // Puts `with` in the place of a cell that is still as it was read (none: the cell goes), all or
  // none. What is written to it from now on stays. kUnsupported: the store cannot.
  virtual Task<CasOutcome> replace_cell(Bytes row, Family family, Cell held,
                                        std::vector<CellWrite> with) {
    static_cast<void>(row);
    static_cast<void>(family);
    static_cast<void>(held);
    static_cast<void>(with);
    co_return fail(Errc::kUnsupported, "this store does not support conditional replacement");
  }

  // One Row for each read, in the same order; without cells where there is nothing. Cannot be
  // stopped: who may be asks for some thousands at a time.
  virtual Task<std::vector<Row>> read(std::vector<RowRead> reads) = 0;

  [[nodiscard]] virtual std::unique_ptr<Scanner> scan(ScanSpec spec,
                                                      const ReadContext& context) = 0;

  // The same scan, its rows as views. By default they are views into the rows of scan().
  [[nodiscard]] virtual std::unique_ptr<PackedScanner> scan_packed(ScanSpec spec,
                                                                   const ReadContext& context);

  // The requests that a scan sends to servers, in order. None where rows are in this process.
  [[nodiscard]] virtual std::vector<ScanDescription> describe_scan(const ScanSpec& spec) const {
    static_cast<void>(spec);
    return {};
  }

  // What scanning these ranges would read, without reading it: for telling a query's cost, off by
  // a factor at worst. Small ranges may come out as nothing. kUnsupported: the store cannot tell.
  virtual Task<RangeEstimate> estimate(Family family, std::vector<KeyRange> ranges) {
    static_cast<void>(family);
    static_cast<void>(ranges);
    co_return fail(Errc::kUnsupported, "this store does not support estimates");
  }

  // Adds to a big-endian 64-bit counter (absent counts as 0) and returns the sum. No two callers
  // see the same sum. A cell of another length is kInvalidArgument.
  virtual Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) = 0;

  // No cell that the store has stamped is newer, in ms since 1970. 0: the store cannot tell.
  [[nodiscard]] virtual TimestampMs newest_stamp() const { return 0; }

  // Writes the cell if it holds `expected` now; nothing expected means there is no such cell.
  virtual Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                           Bytes value) = 0;
};

class WideColumnStore {
 public:
  virtual ~WideColumnStore() = default;

  // Opens a table, making it if it is not there. The store outlives it. A table that exists with
  // other families is kConflict; TTLs may differ and are taken from the spec.
  virtual Task<std::shared_ptr<Table>> open_table(TableSpec spec) = 0;

  // kUnavailable with the reason while what is written cannot be made durable.
  [[nodiscard]] virtual Result<void> health() const { return {}; }

  // Forgets what can be read again. Any thread.
  virtual void drop_caches() {}

  // Finishes what runs, then releases files and threads. No call may follow.
  virtual Task<void> close() = 0;
};

}  // namespace halite::storage
