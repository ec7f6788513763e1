#include "tests/support/fake_region_scans.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "storage/backends/hbase/proto/rpc.pb.h"
#include "tests/support/fake_key_value.h"
#include "tests/support/fake_scan_filter.h"

namespace halite::test {

namespace pb = storage::hbase::pb;

std::vector<FakeCell> wanted_cells(const FakeHBaseData& data, const std::string& table,
                                   const pb::Get& get) {
  const bool raw = std::ranges::any_of(
      get.attribute(), [](const pb::NameBytesPair& one) { return one.name() == "_raw_"; });
  std::vector<FakeCell> found;
  for (const FakeCell& cell : data.cells(table, get.row(), raw)) {
    const bool wanted =
        get.column().empty() || std::ranges::any_of(get.column(), [&](const pb::Column& column) {
          const auto& names = column.qualifier();
          return column.family() == cell.family &&
                 (names.empty() || std::ranges::find(names, cell.qualifier) != names.end());
        });
    if (wanted) found.push_back(cell);
  }
  return found;
}

std::uint32_t append_cells(const FakeHBaseData& data, const std::string& table, const pb::Get& get,
                           Bytes& cellblock) {
  const std::vector<FakeCell> cells = wanted_cells(data, table, get);
  for (const FakeCell& cell : cells) append_cell(cellblock, cell);
  return static_cast<std::uint32_t>(cells.size());
}

// Rows of hbase:meta: from "table,row,id" backwards, or all of a table forwards.
FakeAnswer FakeRegionScans::scan_meta(const pb::ScanRequest& request) const {
  const pb::Scan& scan = request.scan();
  const std::string table = table_of(scan.start_row());
  const std::size_t row_at = table.size() + 1;
  const Bytes row = scan.start_row().substr(row_at, scan.start_row().rfind(',') - row_at);
  std::vector<const FakeRegion*> found;
  for (const FakeRegion& region : data_.regions_const()) {
    if (region.table != table) continue;
    if (!scan.reversed() || region.begin <= row) found.push_back(&region);
  }
  std::ranges::sort(found, [](const FakeRegion* a, const FakeRegion* b) {
    return std::tie(a->begin, a->id) < std::tie(b->begin, b->id);
  });
  if (scan.reversed()) std::ranges::reverse(found);
  const std::size_t most = request.limit_of_rows() != 0 ? request.limit_of_rows() : found.size();
  pb::ScanResponse response;
  Bytes cellblock;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
    const FakeRegion& region = *found[i];
    const storage::hbase::Endpoint& server = servers_[region.server_in_meta];
    pb::RegionInfo info;
    info.set_region_id(region.id);
    info.mutable_table_name()->set_namespace_("default");
    info.mutable_table_name()->set_qualifier(table);
    info.set_start_key(region.begin);
    info.set_end_key(region.end);
    const std::string address = server.host + ":" + std::to_string(server.port);
    Bytes sequence;
    append_be(sequence, region.sequence);
    Bytes start_code;
    append_be(start_code, std::uint64_t{1});
    const Bytes name = region.full_name();
    append_cell(cellblock, {name, "info", "regioninfo", 1, "PBUF" + info.SerializeAsString()});
    append_cell(cellblock, {name, "info", "seqnumDuringOpen", 1, sequence});
    append_cell(cellblock, {name, "info", "server", 1, address});
    append_cell(cellblock, {name, "info", "serverstartcode", 1, start_code});
    const Bytes state = data_.disabled(table) || region.closed ? "CLOSED" : "OPEN";
    append_cell(cellblock, {name, "info", "state", 1, state});
    response.add_cells_per_result(5);
    response.add_partial_flag_per_result(false);
  }
  response.set_more_results(false);
  response.set_more_results_in_region(false);
  return answer(response, std::move(cellblock));
}

std::optional<FakeException> FakeRegionScans::open_scan(const FakeRequest& request,
                                                        const pb::ScanRequest& message,
                                                        std::uint64_t& id) {
  const pb::Scan& scan = message.scan();
  FakeRegion* region = nullptr;
  region = data_.region_named(message.region().value());
  const bool here = region != nullptr && region->server == request.server;
  if (!here || data_.disabled(region->table)) {
    return FakeException{"NotServingRegionException", "the region is not online", false};
  }
  OpenScan opened{*region, {}, scan, 0, 0};
  const Bytes low = scan.reversed() ? scan.stop_row() : scan.start_row();
  const Bytes high = scan.reversed() ? scan.start_row() : scan.stop_row();
  for (const Bytes& row : data_.rows(region->table, region->begin, region->end)) {
    const bool at_start = row == scan.start_row() && scan.has_start_row();
    const bool at_stop = row == scan.stop_row() && !scan.stop_row().empty();
    if (at_start && scan.has_include_start_row() && !scan.include_start_row()) continue;
    if (at_stop && !scan.include_stop_row()) continue;
    if (row < low || (!high.empty() && row > high)) continue;
    if (!passes_rows(scan.filter(), row)) continue;
    opened.rows.push_back(row);
  }
  if (!scan.reversed()) std::ranges::reverse(opened.rows);
  id = ++last_scan_;
  open_.emplace(id, std::move(opened));
  return std::nullopt;
}

FakeAnswer FakeRegionScans::scan(const FakeRequest& request) {
  const auto message = parsed<pb::ScanRequest>(request.message);
  if (message.has_region() && table_of(message.region().value()) == kFakeMeta) {
    return scan_meta(message);
  }
  std::uint64_t id = message.scanner_id();
  if (message.has_region()) {
    auto wrong = open_scan(request, message, id);
    if (wrong) return refusal(*std::move(wrong));
  }
  const auto found = open_.find(id);
  if (found == open_.end()) {
    if (message.close_scanner()) return answer(pb::ScanResponse());
    return refusal({"UnknownScannerException", "no scanner " + std::to_string(id), true});
  }
  OpenScan& open = found->second;
  const FakeRegion* const region = data_.region_named(open.region.full_name());
  const bool here = region != nullptr && region->server == request.server;
  if (!here || data_.disabled(region->table)) {
    open_.erase(found);
    return refusal({"NotServingRegionException", "Region has changed on the scanner", false});
  }
  if (!message.has_region() && message.has_next_call_seq() &&
      message.next_call_seq() != open.next_call++) {
    return refusal({"exceptions.OutOfOrderScannerNextException", "sequence", true});
  }
  return next_rows(message, id);
}

FakeAnswer FakeRegionScans::next_rows(const pb::ScanRequest& message, std::uint64_t id) {
  OpenScan& open = open_.at(id);
  pb::ScanResponse response;
  Bytes cellblock;
  std::size_t left = std::min<std::size_t>(message.number_of_rows(), rows_per_answer_);
  pb::Get all;
  for (const pb::Column& column : open.scan.column()) *all.add_column() = column;
  std::size_t cells_left = cells_per_answer_;
  // Time was up before anything was found.
  const bool heartbeat = heartbeat_every_ != 0 && ++answers_ % heartbeat_every_ == 0;
  if (heartbeat && message.client_handles_heartbeats()) {
    response.set_heartbeat_message(true);
    left = 0;
  }
  for (; left > 0 && cells_left > 0 && !open.rows.empty(); --left) {
    all.set_row(open.rows.back());
    const std::vector<FakeCell> cells = wanted_cells(data_, open.region.table, all);
    const std::size_t begin = std::min<std::size_t>(open.cells_sent, cells.size());
    const std::size_t end = std::min(cells.size(), begin + cells_left);
    for (std::size_t i = begin; i < end; ++i) append_cell(cellblock, cells[i]);
    const bool partial = end < cells.size();
    open.cells_sent = partial ? static_cast<std::uint32_t>(end) : 0;
    if (!partial) open.rows.pop_back();
    cells_left -= end - begin;
    if (begin == end) continue;
    response.add_cells_per_result(static_cast<std::uint32_t>(end - begin));
    response.add_partial_flag_per_result(partial);
  }
  response.set_scanner_id(id);
  response.set_ttl(60'000);
  response.set_more_results(true);
  response.set_more_results_in_region(!open.rows.empty());
  if (open.rows.empty() || message.close_scanner()) open_.erase(id);
  return answer(response, std::move(cellblock));
}

}  // namespace halite::test
