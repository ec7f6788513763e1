#include "storage/backends/hbase/client/client.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/hbase/client/admin.h"
#include "storage/backends/hbase/client/batch.h"
#include "storage/backends/hbase/client/bulk_load_call.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/client/row_add.h"
#include "storage/backends/hbase/client/row_call.h"
#include "storage/backends/hbase/client/scanner.h"
#include "storage/backends/hbase/messages/mutation_message.h"
#include "storage/backends/hbase/security/server_transport.h"

namespace halite::storage::hbase {

namespace {

Result<void> check_cell(const CellAddress& cell) {
  TRY_VOID(check_row(cell.row));
  return check_family(cell.family);
}

// HBase counts the regions only later, so an order that it would refuse is reported here.
Result<void> check_splits(const std::vector<Bytes>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TRY_VOID(check_row(keys[i]));
    if (i != 0 && keys[i] <= keys[i - 1]) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("split key {} is not behind the one before", to_hex(keys[i])));
    }
  }
  return {};
}

}  // namespace

Client::Client(ClientOptions options, std::vector<boost::asio::any_io_executor> executors,
               prometheus::Registry& registry)
    : context_(
          std::make_shared<ClientContext>(std::move(options), std::move(executors), registry)) {}

Result<void> Client::check(const ClientOptions& options) { return check_security(options); }

Client::~Client() = default;

Task<void> Client::mutate(std::string table, std::vector<RowMutation> rows, WriteEnd end) {
  for (const RowMutation& row : rows) CO_TRY_VOID(check_mutation(row, context_->options));
  std::erase_if(rows,
                [](const RowMutation& row) { return row.puts.empty() && row.deletes.empty(); });
  Task<void> writing = write_rows(context_, std::move(table), std::move(rows), end);
  co_return co_await std::move(writing);
}

Task<void> Client::append(std::string table, std::vector<CellAppend> cells) {
  for (const CellAppend& cell : cells) CO_TRY_VOID(check_append(cell, context_->options));
  Task<void> appending = append_cells(context_, std::move(table), std::move(cells));
  co_return co_await std::move(appending);
}

Task<std::vector<Row>> Client::get(std::string table, std::vector<RowGet> reads) {
  for (const RowGet& read : reads) {
    CO_TRY_VOID(check_row(read.row));
    for (const FamilyColumns& columns : read.columns) CO_TRY_VOID(check_family(columns.family));
  }
  Task<std::vector<Row>> reading = read_rows(context_, std::move(table), std::move(reads));
  co_return co_await std::move(reading);
}

std::unique_ptr<Scanner> Client::scan(std::string table, ScanRequest request) {
  return make_scanner(context_, std::move(table), std::move(request));
}

Task<IncrementResult> Client::increment(std::string table, CellAddress cell, std::int64_t delta) {
  CO_TRY_VOID(check_cell(cell));
  Task<IncrementResult> adding = increment_cell(context_, std::move(table), std::move(cell), delta);
  co_return co_await std::move(adding);
}

Task<std::vector<RowAddResult>> Client::add(std::string table, std::vector<RowAdd> adds) {
  for (const RowAdd& add : adds) {
    CO_TRY_VOID(check_row(add.row));
    for (const RowAdd::Delta& one : add.deltas) CO_TRY_VOID(check_family(one.family));
    if (add.once) CO_TRY_VOID(check_cell(*add.once));
  }
  Task<std::vector<RowAddResult>> adding = add_to_rows(context_, std::move(table), std::move(adds));
  co_return co_await std::move(adding);
}

Task<CasOutcome> Client::check_and_put(std::string table, CheckAndPut change) {
  CO_TRY_VOID(check_cell(change.cell));
  if (change.time < 0) co_return fail(Errc::kInvalidArgument, "a cell's time is below 0");
  if (change.value.size() > context_->options.value_bytes_max) {
    co_return fail(Errc::kTooLarge,
                   fmt::format("a value of {} bytes; at most {} are allowed", change.value.size(),
                               context_->options.value_bytes_max));
  }
  Task<CasOutcome> putting = check_and_put_cell(context_, std::move(table), std::move(change));
  co_return co_await std::move(putting);
}

Task<CasOutcome> Client::check_and_mutate(std::string table, CheckAndMutate change) {
  CO_TRY_VOID(check_mutation(change.mutation, context_->options));
  CO_TRY_VOID(check_family(change.family));
  if (change.expected.empty()) {
    co_return fail(Errc::kInvalidArgument,
                   "an empty value cannot be distinguished from a missing cell");
  }
  Task<CasOutcome> changing = check_and_mutate_row(context_, std::move(table), std::move(change));
  co_return co_await std::move(changing);
}

Task<void> Client::create_table(TableDescriptor table, std::vector<Bytes> split_keys) {
  CO_TRY_VOID(check_splits(split_keys));
  Task<void> creating = hbase::create_table(context_, std::move(table), std::move(split_keys));
  co_return co_await std::move(creating);
}

Task<std::optional<TableDescriptor>> Client::describe_table(std::string table) {
  return hbase::describe_table(context_, std::move(table));
}

Task<std::optional<TableState>> Client::table_state(std::string table) {
  return hbase::table_state(context_, std::move(table));
}

Task<void> Client::modify_table(TableDescriptor table) {
  return hbase::modify_table(context_, std::move(table));
}

Task<void> Client::enable_table(std::string table) {
  return hbase::enable_table(context_, std::move(table));
}

Task<void> Client::disable_table(std::string table) {
  return hbase::disable_table(context_, std::move(table));
}

Task<void> Client::drop_table(std::string table) {
  return hbase::drop_table(context_, std::move(table));
}

Task<void> Client::flush_table(std::string table) {
  return hbase::flush_table(context_, std::move(table));
}

Task<void> Client::compact_regions(std::string table, std::vector<Bytes> names) {
  return hbase::compact_regions(context_, std::move(table), std::move(names));
}

Task<std::vector<ServerStatus>> Client::servers() { return server_statuses(context_); }

Task<std::vector<RegionStatus>> Client::regions(std::string table) {
  return region_statuses(context_, std::move(table));
}

Task<std::vector<KeyRange>> Client::region_ranges(std::string table) {
  return hbase::region_ranges(context_, std::move(table));
}

Task<std::string> Client::begin_bulk_load(std::string table) {
  return hbase::begin_bulk_load(context_, std::move(table));
}

Task<BulkLoadAnswer> Client::bulk_load(BulkLoadCall call) {
  return hbase::bulk_load(context_, std::move(call));
}

Task<void> Client::end_bulk_load(std::string table, std::string staging) {
  return hbase::end_bulk_load(context_, std::move(table), std::move(staging));
}

Result<void> Client::health() const {
  if (const std::optional<Error> last_error = context_->servers.last_error()) {
    return fail(Errc::kUnavailable, last_error->message);
  }
  return {};
}

Task<void> Client::close() {
  const std::shared_ptr<ClientContext> context = context_;
  context->hooks.run();
  context->operations->close("the HBase client is closed");
  Task<void> pausing = context->pauses->close();
  CO_TRY_VOID(co_await std::move(pausing));
  Task<void> closing = context->servers.close();
  CO_TRY_VOID(co_await std::move(closing));
  Task<void> ending = context->activity.end();
  CO_TRY_VOID(co_await std::move(ending));
  // A scanner or a read of ZooKeeper may have requested a connection meanwhile.
  co_return Result<void>();
}

}  // namespace halite::storage::hbase
