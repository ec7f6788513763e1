// A client for HBase 2.5 and 2.6: rows, scans and tables, over HBase's own protocol.
//
// Formats: docs/formats/hbase.md. Reasons: docs/decisions/0015-hbase-client.md.
//
//   Threads   Call from any thread. Sockets run on the given executors, each on a strand.
//   Retries   Failures that may pass (region server, master, network) are retried with growing
//             pauses for operation_ms_max; then the last error is returned.
//   Order     The rows of a call, and parallel calls, are written in any order.
//   Errors    kUnavailable, kOverloaded: try later; a write may have happened. kTimeout: also for
//             master procedures that exceed procedure_ms_max, which continue. kInvalidArgument,
//             kTooLarge: not sent. Row calls return kUnavailable at once for a table that does not
//             exist, is disabled or not permitted; table calls return kNotFound, kConflict or
//             kInvalidArgument.
//   Lifetime  The executors outlive close(). Destroy the client only after close().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <prometheus/registry.h>

#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/messages/bulk_load.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/messages/scan.h"
#include "storage/backends/hbase/messages/table_descriptor.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

struct ClientContext;

struct RowAddResult {
  AddOutcome outcome = AddOutcome::kAdded;
  std::vector<Cell> counters;  // kAdded, kOverflow: as the region server has them now
};

class Client {
 public:
  // Does not connect yet. `executors` has at least one; connections are spread over all. The
  // registry outlives the client.
  Client(ClientOptions options, std::vector<boost::asio::any_io_executor> executors,
         prometheus::Registry& registry);
  ~Client();
  Client(const Client&) = delete;

  // Reads the files that the options name: keytab, certificates. kInvalidArgument says which
  // setting is wrong. Asks no server.
  [[nodiscard]] static Result<void> check(const ClientOptions& options);

  // Each row is atomic, the batch is not; an error may leave some rows written. After a lost
  // answer, rows are written again, which is harmless for cells with a time. No server begins with
  // them after `end`, if it takes them from its network when they arrive.
  Task<void> mutate(std::string table, std::vector<RowMutation> rows, WriteEnd end = kNoWriteEnd);

  // Each is atomic and applied once, even if sent again; the batch is not atomic. No cell twice.
  Task<void> append(std::string table, std::vector<CellAppend> cells);

  // One Row for each read, in order; without cells if there is nothing.
  Task<std::vector<Row>> get(std::string table, std::vector<RowGet> reads);

  // Sends nothing before the first next(). The scanner may outlive the client.
  [[nodiscard]] std::unique_ptr<Scanner> scan(std::string table, ScanRequest request);

  // Adds to a big-endian 64-bit counter (absent counts as 0) and returns the sum. A request that is
  // sent again counts once; it counts twice only if the server dies before it answers. A cell of
  // another length is kInvalidArgument.
  Task<IncrementResult> increment(std::string table, CellAddress cell, std::int64_t delta);

  // Adds to the counters of rows, of which none occurs twice, each once: by the cell `once`, or
  // else by a nonce. kUnavailable if that does not tell whether a row was added to (row_add.h). A
  // sum that does not fit wraps for a moment, then the additions of its row are undone; the
  // counters that were absent are 0 then. The results are in order. An error may leave some rows
  // added.
  Task<std::vector<RowAddResult>> add(std::string table, std::vector<RowAdd> adds);

  // kUnknown: an answer was lost, and the cell does not show whether the write was applied.
  Task<CasOutcome> check_and_put(std::string table, CheckAndPut change);

  // kUnknown: an answer was lost, and the cell holds another value now.
  Task<CasOutcome> check_and_mutate(std::string table, CheckAndMutate change);

  // Returns when all regions are open. `split_keys` are in order, not empty, unique. kConflict: the
  // table exists.
  Task<void> create_table(TableDescriptor table, std::vector<Bytes> split_keys);
  // Returns nothing if the table does not exist.
  Task<std::optional<TableDescriptor>> describe_table(std::string table);
  Task<std::optional<TableState>> table_state(std::string table);
  // Replaces the whole description, with all families. The servers reopen the regions one by one.
  Task<void> modify_table(TableDescriptor table);
  Task<void> enable_table(std::string table);
  Task<void> disable_table(std::string table);
  Task<void> drop_table(std::string table);  // it must be disabled

  // Writes memory to files. Returns when that is done.
  Task<void> flush_table(std::string table);
  // Requests a major compaction of the named regions (full names), or of all if none is named. The
  // servers do it when they can.
  Task<void> compact_regions(std::string table, std::vector<Bytes> names);
  // The region servers that are alive, according to the master.
  Task<std::vector<ServerStatus>> servers();
  // In key order.
  Task<std::vector<RegionStatus>> regions(std::string table);

  // The rows of each region, in key order; reads hbase:meta.
  Task<std::vector<KeyRange>> region_ranges(std::string table);

  // Bulk loads; bulk_load/bulk_load.h has all steps. Servers move files into a staging directory,
  // which they name, and then into the region. end_bulk_load() removes it with all that is in it.
  Task<std::string> begin_bulk_load(std::string table);
  Task<BulkLoadAnswer> bulk_load(BulkLoadCall call);
  Task<void> end_bulk_load(std::string table, std::string staging);

  // kUnavailable with the reason: the last attempt to reach a server failed.
  [[nodiscard]] Result<void> health() const;

  // Running calls end with kUnavailable. Returns when no socket is left. No call may follow.
  Task<void> close();

 private:
  const std::shared_ptr<ClientContext> context_;
};

}  // namespace halite::storage::hbase
