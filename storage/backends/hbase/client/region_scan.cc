#include "storage/backends/hbase/client/region_scan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "storage/backends/hbase/messages/mutation_message.h"

namespace halite::storage::hbase {

namespace {

constexpr std::uint32_t kAllRows = std::numeric_limits<std::int32_t>::max();  // the size is limited
constexpr std::uint32_t kReleaseMs = 2'000;
constexpr std::size_t kCellBytesMin = 24;
constexpr const char* kOutOfOrder = "OutOfOrderScannerNextException";

pb::Scan::ReadType read_type(ReadKind kind) {
  switch (kind) {
    case ReadKind::kByServer:
      return pb::Scan::DEFAULT;
    case ReadKind::kStream:
      return pb::Scan::STREAM;
    case ReadKind::kSingle:
      break;
  }
  return pb::Scan::PREAD;
}

// Adds `cell` and the next `more` cells; `cell` becomes the last of them.
Result<void> pack_cells(CellReader& reader, CellView& cell, std::size_t more, ScanBatch& to) {
  PackedRows& rows = to.rows;
  rows.cells.reserve(more + 1);
  for (;;) {
    if (rows.rows.empty() || rows.rows.back().key != cell.row) {
      rows.rows.push_back({cell.row, rows.cells.size(), 0});
    }
    if (to.families.empty() || to.families.back().family != cell.family) {
      to.families.push_back({rows.cells.size(), cell.family});
    }
    const std::size_t first = rows.cells.size();
    rows.cells.push_back({cell.qualifier, cell.value, static_cast<TimestampMs>(cell.time)});
    reader.next_of_row(cell, more, rows.cells);
    more -= rows.cells.size() - first - 1;
    rows.rows.back().end = rows.cells.size();
    if (more == 0) break;
    TRY(cell, reader.next());
    --more;
  }
  cell.qualifier = rows.cells.back().qualifier;
  cell.value = rows.cells.back().value;
  cell.time = static_cast<std::uint64_t>(rows.cells.back().time);
  return {};
}

void set_client(pb::ScanRequest& request) {
  request.set_number_of_rows(kAllRows);
  request.set_client_handles_partials(true);
  request.set_client_handles_heartbeats(true);
}

}  // namespace

RegionScan::RegionScan(ClientContextPtr context, std::string table, ScanRequest request)
    : context_(std::move(context)),
      table_(std::move(table)),
      request_(std::move(request)),
      retry_(context_, context_->options.operation_ms_max, Subject::kRows),
      from_(request_.reverse ? request_.end : request_.begin),
      include_from_(!request_.reverse) {}

Task<ScanBatch> RegionScan::next() {
  retry_.progress();
  for (;;) {
    RemoteTask<ScanBatch> trying = attempt();
    Outcome<ScanBatch> rows = co_await std::move(trying);
    if (rows) co_return *std::move(rows);
    Task<void> pausing = retry_.after(rows.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

RemoteTask<ScanBatch> RegionScan::attempt() {
  RegionPtr region;
  pb::ScanRequest request;
  if (open_) {
    region = open_->region;
    request = next_message();
  } else {
    RemoteTask<RegionPtr> locating = locate();
    Outcome<RegionPtr> located = co_await std::move(locating);
    if (!located) co_return std::unexpected(std::move(located).error());
    region = *std::move(located);
    request = open_message(*region);
  }
  RemoteTask<Reply> sending = send(region, request);
  const Outcome<Reply> reply = co_await std::move(sending);
  if (!reply) {
    context_->locator.learn(region, reply.error());
    if (open_ && reply.error().class_name == kOutOfOrder) {
      auto releasing = release();  // it is still open
      co_await std::move(releasing);
    }
    open_.reset();  // after any error, the state of that scanner is unknown
    co_return std::unexpected(reply.error());
  }
  pb::ScanResponse response;
  if (!response.ParseFromArray(reply->message.data(), static_cast<int>(reply->message.size()))) {
    co_return give_up(Errc::kInternal, "HBase returned an invalid answer to a scan");
  }
  Outcome<ScanBatch> rows = take_rows(response, *reply);
  if (rows) after_answer(region, response);
  co_return rows;
}

RemoteTask<RegionPtr> RegionScan::locate() {
  if (request_.reverse && !include_from_) return context_->locator.locate_before(table_, from_);
  return context_->locator.locate(table_, from_);
}

RemoteTask<Reply> RegionScan::send(RegionPtr region, const pb::ScanRequest& request) {
  Call call{.method = "Scan",
            .message = request.SerializeAsString(),
            .cellblock = {},
            .timeout_ms = retry_.call_ms(),
            .priority = {}};
  return context_->servers.call(region->server, kClientService, std::move(call));
}

pb::ScanRequest RegionScan::open_message(const Region& region) const {
  pb::ScanRequest request;
  set_client(request);
  set_region(*request.mutable_region(), region.name);
  pb::Scan& scan = *request.mutable_scan();
  for (const FamilyColumns& columns : request_.columns) {
    write_columns(columns, *scan.add_column());
  }
  scan.set_start_row(from_);
  scan.set_include_start_row(include_from_);
  scan.set_stop_row(request_.reverse ? request_.begin : request_.end);
  scan.set_include_stop_row(request_.reverse);
  scan.set_reversed(request_.reverse);
  if (!request_.filter.name.empty()) {
    scan.mutable_filter()->set_name("org.apache.hadoop.hbase.filter." + request_.filter.name);
    scan.mutable_filter()->set_serialized_filter(request_.filter.message);
  }
  if (request_.times != TimeRange{}) {
    scan.mutable_time_range()->set_from(static_cast<std::uint64_t>(request_.times.begin));
    scan.mutable_time_range()->set_to(static_cast<std::uint64_t>(request_.times.end));
  }
  if (request_.raw) write_raw(*scan.add_attribute());
  scan.set_max_versions(request_.versions_max);
  scan.set_cache_blocks(request_.cache_blocks);
  scan.set_max_result_size(context_->options.scan_batch_bytes_max);
  scan.set_caching(kAllRows);
  scan.set_read_type(read_type(request_.read));
  if (last_row_ && include_from_ && region.name == read_point_region_) {
    scan.set_mvcc_read_point(read_point_);
  }
  return request;
}

pb::ScanRequest RegionScan::next_message() {
  pb::ScanRequest request;
  set_client(request);
  request.set_scanner_id(open_->id);
  request.set_next_call_seq(open_->next_call++);
  return request;
}

void RegionScan::after_answer(const RegionPtr& region, const pb::ScanResponse& response) {
  if (!open_) {
    open_ = Open{
        .region = region, .id = response.scanner_id(), .next_call = 0, .lease_ms = response.ttl()};
    read_point_region_ = region->name;
    read_point_ = response.mvcc_read_point();
  }
  const bool region_done = response.has_more_results_in_region()
                               ? !response.more_results_in_region()
                               : response.cells_per_result_size() == 0;
  if (response.has_more_results() && !response.more_results()) {
    finished_ = true;
    open_.reset();
  } else if (region_done) {
    open_.reset();
    end_of_region(*region);
  }
}

void RegionScan::end_of_region(const Region& region) {
  last_row_.reset();
  if (request_.reverse) {
    finished_ = region.begin.empty() || region.begin <= request_.begin;
    from_ = region.begin;
    include_from_ = false;
  } else {
    finished_ = region.end.empty() || (!request_.end.empty() && region.end >= request_.end);
    from_ = region.end;
    include_from_ = true;
  }
}

bool RegionScan::seen(const CellView& cell) const {
  if (!last_row_ || cell.row != *last_row_) return false;
  if (cell.family != last_cell_.family) return cell.family < BytesView(last_cell_.family);
  if (cell.qualifier != last_cell_.qualifier) {
    return cell.qualifier < BytesView(last_cell_.qualifier);
  }
  return static_cast<TimestampMs>(cell.time) >= last_cell_.time;  // newest first
}

Outcome<ScanBatch> RegionScan::take_rows(const pb::ScanResponse& response, const Reply& reply) {
  std::size_t left = 0;
  for (const std::uint32_t count : response.cells_per_result()) left += count;
  // A cell takes at least its length fields, so a wrong count reserves no memory.
  left = std::min(left, reply.cellblock.size() / kCellBytesMin + 1);
  ScanBatch batch;
  if (left == 0) return batch;
  CellReader reader(reply.cellblock);
  CellView cell;
  bool is_new = false;
  while (left > 0 && !is_new) {
    const Result<CellView> first = reader.next();
    if (!first) return give_up(first.error().code, first.error().message);
    cell = *first;
    is_new = !seen(cell);
    --left;
  }
  if (is_new) {
    const Result<void> packed = pack_cells(reader, cell, left, batch);
    if (!packed) return give_up(packed.error().code, packed.error().message);
    batch.rows.bytes = reply.frame;
    last_row_ = Bytes(cell.row);
    last_cell_ = {.family = Bytes(cell.family),
                  .qualifier = Bytes(cell.qualifier),
                  .value = {},
                  .time = static_cast<TimestampMs>(cell.time)};
  }
  context_->stats.scanned_rows.Increment(static_cast<double>(batch.rows.rows.size()));
  from_ = cell.row;
  const int results = response.partial_flag_per_result_size();
  include_from_ = results != 0 && response.partial_flag_per_result(results - 1);
  return batch;
}

boost::asio::awaitable<void> RegionScan::renew() {
  if (!open_) co_return;
  pb::ScanRequest request = next_message();
  request.set_number_of_rows(0);
  request.set_renew(true);
  retry_.progress();
  RemoteTask<Reply> sending = send(open_->region, request);
  const Outcome<Reply> reply = co_await std::move(sending);
  if (reply) co_return;
  context_->locator.learn(open_->region, reply.error());
  open_.reset();
}

boost::asio::awaitable<void> RegionScan::release() {
  if (!open_) co_return;
  pb::ScanRequest request;
  request.set_scanner_id(open_->id);
  request.set_number_of_rows(0);
  request.set_close_scanner(true);
  Call call{.method = "Scan",
            .message = request.SerializeAsString(),
            .cellblock = {},
            .timeout_ms = kReleaseMs,
            .priority = {}};
  RemoteTask<Reply> calling =
      context_->servers.call(open_->region->server, kClientService, std::move(call));
  open_.reset();
  const Outcome<Reply> reply = co_await std::move(calling);
  static_cast<void>(reply);  // a scanner that is not closed ends with its lease
}

}  // namespace halite::storage::hbase
