// A client of HBase 2.5 and 2.6: rows, scans and tables, over HBase's own protocol.
//
// Formats: docs/formats/hbase.md. Reasons: docs/decisions/0015-hbase-client.md.
//
//   Threads  any call from any thread; sockets live on the executors handed in, each on a strand.
//   Retries  what a region server, the master or the network may recover from is tried again with
//            growing pauses until operation_ms_max; what comes back then is the last reason.
//   Order    one call's rows are written in no order; calls side by side neither.
//   Errors   kUnavailable, kOverloaded: try later; a write may have happened. kTimeout: so does
//            work of the master that takes longer than procedure_ms_max, and goes on.
//            kInvalidArgument, kTooLarge: it was not sent. Rows of a table that is not there, is
//            disabled or not for us are kUnavailable, too, at once; calls about tables tell which
//            it is: kNotFound, kConflict, kInvalidArgument.
//   Life     the executors outlive close(); the client may be destroyed only after it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <prometheus/registry.h>

#include "common/task.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/messages/scan.h"
#include "storage/backends/hbase/messages/table_descriptor.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

struct ClientContext;

class Client {
 public:
  // Connects to nothing yet. `executors`: at least one; connections are spread over them. The
  // registry outlives the client.
  Client(ClientOptions options, std::vector<boost::asio::any_io_executor> executors,
         prometheus::Registry& registry);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Each row is atomic, the batch is not; an error may leave some rows written. Written again after
  // a lost answer: harmless for cells that have a time.
  Task<void> mutate(std::string table, std::vector<RowMutation> rows);

  // Each is atomic and done once also where it is sent again; the batch is not. No cell twice.
  Task<void> append(std::string table, std::vector<CellAppend> cells);

  // One Row for each read, in the same order; without cells where there is nothing.
  Task<std::vector<Row>> get(std::string table, std::vector<RowGet> reads);

  // Nothing is asked before the first next(). The scanner may outlive the client.
  [[nodiscard]] std::unique_ptr<Scanner> scan(std::string table, ScanRequest request);

  // Adds to a big-endian 64-bit counter (absent counts as 0) and returns the sum; counted once also
  // when the request had to be sent again, and once more only where the server that counted it died
  // before it answered. A cell of another length is kInvalidArgument.
  Task<IncrementResult> increment(std::string table, CellAddress cell, std::int64_t delta);

  // kUnknown only when an answer was lost and reading the cell did not tell either.
  Task<CasOutcome> check_and_put(std::string table, CheckAndPut change);

  // kUnknown when an answer was lost and the cell holds something else by now.
  Task<CasOutcome> check_and_mutate(std::string table, CheckAndMutate change);

  // Returns when all regions are open. `split_keys` in order, none empty, none twice. kConflict: it
  // exists.
  Task<void> create_table(TableDescriptor table, std::vector<Bytes> split_keys);
  // Nothing: no such table.
  Task<std::optional<TableDescriptor>> describe_table(std::string table);
  Task<std::optional<TableState>> table_state(std::string table);
  // Takes over the whole description, that of families too; regions are opened anew one by one.
  Task<void> modify_table(TableDescriptor table);
  Task<void> enable_table(std::string table);
  Task<void> disable_table(std::string table);
  Task<void> drop_table(std::string table);  // a disabled one

  // What is in memory becomes files. Returns when it has.
  Task<void> flush_table(std::string table);
  // Asks for a major compaction of the regions named (whole names), or of all when none is; the
  // servers do it when they can.
  Task<void> compact_regions(std::string table, std::vector<Bytes> names);
  // The region servers that the master knows to live.
  Task<std::vector<ServerStatus>> servers();
  // In key order.
  Task<std::vector<RegionStatus>> regions(std::string table);

  // kUnavailable with the reason when the last attempt to reach a server failed.
  [[nodiscard]] Result<void> health() const;

  // Calls under way end with kUnavailable; returns when no socket is left. No call may follow.
  Task<void> close();

 private:
  const std::shared_ptr<ClientContext> context_;
};

}  // namespace halite::storage::hbase
