#include "storage/backends/hbase/locate/meta_scan.h"

#include <algorithm>
#include <utility>

#include "storage/backends/hbase/proto/admin.pb.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::storage::hbase {

namespace {

constexpr std::uint32_t kSystemPriority = 200;  // hbase:meta has handlers of its own
constexpr std::size_t kKeyBytesMax = 32767;

std::unexpected<Fault> odd_answer(const char* what) {
  return std::unexpected<Fault>(
      Fault{.remedy = Remedy::kWait, .error = {Errc::kUnavailable, what, {}}, .moved = {}});
}

Outcome<std::vector<CellView>> take_cells(CellReader& reader, std::size_t count) {
  std::vector<CellView> cells;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<CellView> cell = reader.next();
    if (!cell) return odd_answer("hbase:meta returned damaged cells");
    cells.push_back(*cell);
  }
  return cells;
}

Call meta_call(const char* method, Bytes message, std::uint32_t timeout_ms) {
  return {.method = method,
          .message = std::move(message),
          .cellblock = {},
          .timeout_ms = timeout_ms,
          .priority = kSystemPriority};
}

}  // namespace

Bytes meta_key(const std::string& table, BytesView row) {
  constexpr BytesView kAfterEveryId = ",99999999999999";
  const std::size_t room = kKeyBytesMax - table.size() - 1 - kAfterEveryId.size();
  Bytes key = table + ",";
  key += row.substr(0, room);
  key += kAfterEveryId;
  return key;
}

RemoteTask<MetaScanResult> scan_meta(ConnectionPool& servers, Endpoint meta,
                                     MetaScanRequest question, std::uint32_t timeout_ms) {
  pb::ScanRequest request;
  set_region(*request.mutable_region(), kMetaRegion);
  pb::Scan& scan = *request.mutable_scan();
  scan.add_column()->set_family("info");
  scan.set_start_row(std::move(question.begin));
  scan.set_stop_row(std::move(question.end));
  scan.set_include_start_row(question.include_begin);
  scan.set_include_stop_row(question.include_end);
  scan.set_reversed(question.reverse);
  scan.set_max_versions(1);
  scan.set_read_type(pb::Scan::PREAD);
  request.set_number_of_rows(question.rows_max);
  request.set_limit_of_rows(question.rows_max);
  request.set_close_scanner(true);
  request.set_client_handles_partials(false);
  request.set_client_handles_heartbeats(true);

  RemoteTask<Reply> calling = servers.call(
      std::move(meta), kClientService, meta_call("Scan", request.SerializeAsString(), timeout_ms));
  Outcome<Reply> reply = co_await std::move(calling);
  if (!reply) co_return std::unexpected(std::move(reply).error());
  pb::ScanResponse response;
  if (!response.ParseFromArray(reply->message.data(), static_cast<int>(reply->message.size()))) {
    co_return odd_answer("hbase:meta returned an invalid message");
  }
  MetaScanResult answer;
  CellReader reader(reply->cellblock);
  for (const std::uint32_t count : response.cells_per_result()) {
    const auto cells = take_cells(reader, count);
    if (!cells) co_return std::unexpected(cells.error());
    if (!cells->empty()) answer.rows.push_back(read_meta_row(cells->front().row, *cells));
  }
  answer.more = response.more_results_in_region();
  co_return answer;
}

RemoteTask<bool> is_disabled(ConnectionPool& servers, Endpoint meta, std::string table,
                             std::uint32_t timeout_ms) {
  pb::GetRequest request;
  set_region(*request.mutable_region(), kMetaRegion);
  request.mutable_get()->set_row(std::move(table));
  pb::Column& column = *request.mutable_get()->add_column();
  column.set_family("table");
  column.add_qualifier("state");
  RemoteTask<Reply> calling = servers.call(
      std::move(meta), kClientService, meta_call("Get", request.SerializeAsString(), timeout_ms));
  Outcome<Reply> reply = co_await std::move(calling);
  if (!reply) co_return std::unexpected(std::move(reply).error());
  CellReader reader(reply->cellblock);
  if (reader.at_end()) co_return false;
  const Result<CellView> cell = reader.next();
  pb::TableState state;
  if (!cell || !state.ParseFromArray(cell->value.data(), static_cast<int>(cell->value.size()))) {
    co_return odd_answer("hbase:meta holds an invalid table state");
  }
  co_return state.state() == 1 || state.state() == 2;  // disabled, disabling
}

}  // namespace halite::storage::hbase
