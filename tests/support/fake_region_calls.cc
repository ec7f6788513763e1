#include "tests/support/fake_region_calls.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "storage/hbase/proto/rpc.pb.h"

namespace halite::test {
namespace {

namespace pb = storage::hbase::pb;

constexpr std::uint64_t kLatest = 0x7FFFFFFFFFFFFFFF;
constexpr std::uint8_t kPut = 4;
const std::string kMeta = "hbase:meta";

template <class Message>
Message parsed(BytesView bytes) {
  Message message;
  HALITE_CHECK(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
               "a request is no such message");
  return message;
}

template <class Message>
FakeAnswer answer(const Message& message, Bytes cellblock = {}) {
  return {.message = message.SerializeAsString(), .cellblock = std::move(cellblock)};
}

FakeAnswer refusal(FakeException exception) {
  return {.message = {}, .cellblock = {}, .exception = std::move(exception)};
}

std::string table_of(BytesView region_name) {
  return std::string(region_name.substr(0, region_name.find(',')));
}

// KeyValueCodec, written here once more so that it also checks the client's.
void append_cell(Bytes& to, const FakeCell& cell) {
  const std::size_t key = 12 + cell.row.size() + cell.family.size() + cell.qualifier.size();
  append_be(to, static_cast<std::uint32_t>(8 + key + cell.value.size()));
  append_be(to, static_cast<std::uint32_t>(key));
  append_be(to, static_cast<std::uint32_t>(cell.value.size()));
  append_be(to, static_cast<std::uint16_t>(cell.row.size()));
  to += cell.row;
  append_be(to, static_cast<std::uint8_t>(cell.family.size()));
  to += cell.family + cell.qualifier;
  append_be(to, cell.time);
  append_be(to, kPut);
  to += cell.value;
}

struct Change {
  FakeCell cell;
  std::uint8_t kind = kPut;
};

Change take_cell(BytesView& block) {
  const auto take = [&block](std::size_t bytes) {
    HALITE_CHECK(bytes <= block.size(), "a cellblock is too short");
    const BytesView taken = block.substr(0, bytes);
    block.remove_prefix(bytes);
    return taken;
  };
  const auto total = load_be<std::uint32_t>(take(4).data());
  const auto key = load_be<std::uint32_t>(take(4).data());
  const auto value = load_be<std::uint32_t>(take(4).data());
  HALITE_CHECK(total == 8 + key + value, "a cell's lengths contradict each other");
  Change change;
  change.cell.row = take(load_be<std::uint16_t>(take(2).data()));
  change.cell.family = take(load_be<std::uint8_t>(take(1).data()));
  change.cell.qualifier = take(key - 12 - change.cell.row.size() - change.cell.family.size());
  change.cell.time = load_be<std::uint64_t>(take(8).data());
  change.kind = load_be<std::uint8_t>(take(1).data());
  change.cell.value = take(value);
  return change;
}

std::uint8_t kind_of(const pb::MutationProto& mutation, std::uint32_t delete_type) {
  constexpr std::uint8_t kKinds[] = {8, 12, 14, 10};
  return mutation.mutate_type() == pb::MutationProto::DELETE ? kKinds[delete_type % 4] : kPut;
}

// From the cellblock, or from the message itself.
std::vector<Change> changes_of(const pb::MutationProto& mutation, BytesView& cellblock) {
  std::vector<Change> changes;
  for (int i = 0; i < mutation.associated_cell_count(); ++i) {
    changes.push_back(take_cell(cellblock));
  }
  for (const pb::ColumnValue& column : mutation.column_value()) {
    for (const auto& value : column.qualifier_value()) {
      const std::uint64_t time = value.has_timestamp() ? value.timestamp() : kLatest;
      changes.push_back({{mutation.row(), column.family(), value.qualifier(), time, value.value()},
                         kind_of(mutation, value.delete_type())});
    }
  }
  return changes;
}

void set_exception(pb::NameBytesPair& to, const std::string& name, const std::string& text) {
  to.set_name("org.apache.hadoop.hbase." + name);
  to.set_value(to.name() + ": " + text + "\n\tat fake.Server");
}

FakeException exception_of(const FakeReaction& reaction) {
  return {reaction.exception, reaction.text, reaction.do_not_retry};
}

}  // namespace

FakeCall FakeRegionCalls::describe(const FakeRequest& request) {
  FakeCall call;
  call.server = request.server;
  call.method = request.method;
  if (call.method == "Get") {
    const auto message = parsed<pb::GetRequest>(request.message);
    call.table = table_of(message.region().value());
    call.row = message.get().row();
  } else if (call.method == "Mutate") {
    const auto message = parsed<pb::MutateRequest>(request.message);
    call.table = table_of(message.region().value());
    call.row = message.mutation().row();
  } else if (call.method == "Multi") {
    const auto message = parsed<pb::MultiRequest>(request.message);
    call.actions = 0;
    for (const pb::RegionAction& part : message.region_action()) {
      call.actions += static_cast<std::size_t>(part.action_size());
    }
    const pb::RegionAction& first = message.region_action(0);
    call.table = table_of(first.region().value());
    call.row =
        first.action(0).has_get() ? first.action(0).get().row() : first.action(0).mutation().row();
  } else if (call.method == "Scan") {
    const auto message = parsed<pb::ScanRequest>(request.message);
    call.table = table_of(message.region().value());
    call.row = message.scan().start_row();
  }
  return call;
}

FakeAnswer FakeRegionCalls::run(const FakeRequest& request, const FakeReaction& reaction) {
  if (reaction.what == FakeReaction::kThrow) return refusal(exception_of(reaction));
  if (request.method == "GetMetaRegionLocations") return where_is_meta();
  if (request.method == "GetActiveMaster") {
    pb::GetActiveMasterResponse response;
    response.mutable_server_name()->set_host_name(servers_[0].host);
    response.mutable_server_name()->set_port(servers_[0].port);
    response.mutable_server_name()->set_start_code(1);
    return answer(response);
  }
  if (request.method == "GetBootstrapNodes") {
    pb::GetBootstrapNodesResponse response;
    for (const storage::hbase::Endpoint& server : servers_) {
      response.add_server_name()->set_host_name(server.host);
      response.mutable_server_name()->rbegin()->set_port(server.port);
    }
    return answer(response);
  }
  if (request.method == "Get") return get(request);
  if (request.method == "Mutate") return mutate(request);
  if (request.method == "Multi") return multi(request, reaction);
  if (request.method == "Scan") return scan(request);
  return refusal({"exceptions.UnsupportedOperation", "no method " + request.method, true});
}

FakeAnswer FakeRegionCalls::where_is_meta() const {
  pb::GetMetaRegionLocationsResponse response;
  pb::RegionLocation& location = *response.add_meta_locations();
  location.mutable_region_info()->set_region_id(1);
  location.mutable_region_info()->mutable_table_name()->set_namespace_("hbase");
  location.mutable_region_info()->mutable_table_name()->set_qualifier("meta");
  location.mutable_server_name()->set_host_name(servers_[0].host);
  location.mutable_server_name()->set_port(servers_[0].port);
  location.mutable_server_name()->set_start_code(1);
  location.set_seq_num(-1);
  return answer(response);
}

// Rows of hbase:meta: from "table,row,id" backwards, or all of a table forwards.
FakeAnswer FakeRegionCalls::scan_meta(const pb::ScanRequest& request) const {
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
    append_cell(cellblock, {name, "info", "state", 1, "OPEN"});
    response.add_cells_per_result(5);
    response.add_partial_flag_per_result(false);
  }
  response.set_more_results(false);
  response.set_more_results_in_region(false);
  return answer(response, std::move(cellblock));
}

std::optional<FakeException> FakeRegionCalls::check_region(const FakeRequest& request,
                                                           BytesView name, BytesView row,
                                                           FakeRegion*& region) {
  region = data_.region_named(name);
  if (region == nullptr || region->server != request.server) {
    return FakeException{"NotServingRegionException", Bytes(name) + " is not online", false};
  }
  if (!region->contains(row)) {
    return FakeException{"regionserver.WrongRegionException", "row out of range", false};
  }
  return std::nullopt;
}

std::uint32_t FakeRegionCalls::append_cells(const std::string& table, const pb::Get& get,
                                            Bytes& cellblock) const {
  std::uint32_t count = 0;
  for (const FakeCell& cell : data_.cells(table, get.row())) {
    const bool wanted =
        get.column().empty() || std::ranges::any_of(get.column(), [&](const pb::Column& column) {
          const auto& names = column.qualifier();
          return column.family() == cell.family &&
                 (names.empty() || std::ranges::find(names, cell.qualifier) != names.end());
        });
    if (!wanted) continue;
    append_cell(cellblock, cell);
    ++count;
  }
  return count;
}

FakeAnswer FakeRegionCalls::get(const FakeRequest& request) {
  const auto message = parsed<pb::GetRequest>(request.message);
  pb::GetResponse response;
  Bytes cellblock;
  if (table_of(message.region().value()) == kMeta) {
    append_cell(cellblock, {message.get().row(), "table", "state", 1, Bytes("\x08\x00", 2)});
    response.mutable_result()->set_associated_cell_count(1);
    return answer(response, std::move(cellblock));
  }
  FakeRegion* region = nullptr;
  auto wrong = check_region(request, message.region().value(), message.get().row(), region);
  if (wrong) return refusal(*std::move(wrong));
  const std::uint32_t cells = append_cells(region->table, message.get(), cellblock);
  response.mutable_result()->set_associated_cell_count(static_cast<int>(cells));
  return answer(response, std::move(cellblock));
}

void FakeRegionCalls::apply(const std::string& table, const pb::MutationProto& mutation,
                            BytesView& cellblock) {
  for (Change& change : changes_of(mutation, cellblock)) {
    if (change.cell.time == kLatest) change.cell.time = data_.now();
    if (change.kind == kPut) {
      data_.put(table, std::move(change.cell));
    } else {
      data_.remove(table, change.cell, change.cell.time);
    }
  }
}

FakeAnswer FakeRegionCalls::mutate(const FakeRequest& request) {
  const auto message = parsed<pb::MutateRequest>(request.message);
  const pb::MutationProto& mutation = message.mutation();
  FakeRegion* region = nullptr;
  auto wrong = check_region(request, message.region().value(), mutation.row(), region);
  if (wrong) return refusal(*std::move(wrong));
  BytesView cellblock = request.cellblock;
  pb::MutateResponse response;
  response.set_processed(true);
  if (mutation.mutate_type() == pb::MutationProto::INCREMENT) {
    const std::vector<Change> changes = changes_of(mutation, cellblock);
    HALITE_CHECK(changes.size() == 1 && changes[0].cell.value.size() == 8, "one counter at a time");
    FakeCell cell = changes[0].cell;
    const auto delta = static_cast<std::int64_t>(load_be<std::uint64_t>(cell.value.data()));
    const auto sum =
        data_.increment(region->table, cell, delta, message.nonce_group(), mutation.nonce());
    if (!sum) return refusal({"DoNotRetryIOException", "Field is not a long", true});
    cell.value.clear();
    append_be(cell.value, static_cast<std::uint64_t>(*sum));
    Bytes out;
    append_cell(out, cell);
    response.mutable_result()->set_associated_cell_count(1);
    return answer(response, std::move(out));
  }
  if (message.has_condition()) {
    const pb::Condition& condition = message.condition();
    pb::BinaryComparator expected;
    if (condition.comparator().name().ends_with("BinaryComparator")) {
      expected = parsed<pb::BinaryComparator>(condition.comparator().serialized_comparator());
    }
    Bytes held;
    for (const FakeCell& cell : data_.cells(region->table, condition.row())) {
      const bool it = cell.family == condition.family() && cell.qualifier == condition.qualifier();
      if (it) held = cell.value;
    }
    if (held != expected.comparable().value()) {
      response.set_processed(false);
      return answer(response);
    }
  }
  apply(region->table, mutation, cellblock);
  return answer(response);
}

FakeAnswer FakeRegionCalls::multi(const FakeRequest& request, const FakeReaction& reaction) {
  const auto message = parsed<pb::MultiRequest>(request.message);
  BytesView cellblock = request.cellblock;
  pb::MultiResponse response;
  Bytes out;
  for (int i = 0; i < message.region_action_size(); ++i) {
    const pb::RegionAction& part = message.region_action(i);
    pb::RegionActionResult& result = *response.add_region_action_result();
    FakeRegion* region = nullptr;
    const pb::Action& first = part.action(0);
    const Bytes& row = first.has_get() ? first.get().row() : first.mutation().row();
    auto wrong = check_region(request, part.region().value(), row, region);
    if (i == 0 && reaction.what == FakeReaction::kThrowInside) wrong = exception_of(reaction);
    if (wrong) {
      set_exception(*result.mutable_exception(), wrong->name, wrong->text);
      for (const pb::Action& action : part.action()) {
        std::ignore = changes_of(action.mutation(), cellblock);
      }
      continue;
    }
    for (int j = 0; j < part.action_size(); ++j) {
      const pb::Action& action = part.action(j);
      pb::ResultOrException& one = *result.add_result_or_exception();
      one.set_index(action.index());
      if (i == 0 && j == 0 && reaction.what == FakeReaction::kThrowOnAction) {
        std::ignore = changes_of(action.mutation(), cellblock);
        set_exception(*one.mutable_exception(), reaction.exception, reaction.text);
      } else if (action.has_get()) {
        const std::uint32_t cells = append_cells(region->table, action.get(), out);
        one.mutable_result()->set_associated_cell_count(static_cast<int>(cells));
      } else {
        apply(region->table, action.mutation(), cellblock);
        one.mutable_result();
      }
    }
    result.set_processed(true);
  }
  return answer(response, std::move(out));
}

std::optional<FakeException> FakeRegionCalls::open_scan(const FakeRequest& request,
                                                        const pb::ScanRequest& message,
                                                        std::uint64_t& id) {
  const pb::Scan& scan = message.scan();
  FakeRegion* region = nullptr;
  region = data_.region_named(message.region().value());
  if (region == nullptr || region->server != request.server) {
    return FakeException{"NotServingRegionException", "the region is not online", false};
  }
  OpenScan opened{*region, {}, scan, 0};
  const Bytes low = scan.reversed() ? scan.stop_row() : scan.start_row();
  const Bytes high = scan.reversed() ? scan.start_row() : scan.stop_row();
  for (const Bytes& row : data_.rows(region->table, region->begin, region->end)) {
    const bool at_start = row == scan.start_row() && scan.has_start_row();
    const bool at_stop = row == scan.stop_row() && !scan.stop_row().empty();
    if (at_start && scan.has_include_start_row() && !scan.include_start_row()) continue;
    if (at_stop && !scan.include_stop_row()) continue;
    if (row < low || (!high.empty() && row > high)) continue;
    opened.rows.push_back(row);
  }
  if (!scan.reversed()) std::ranges::reverse(opened.rows);
  id = ++last_scan_;
  scans_.emplace(id, std::move(opened));
  return std::nullopt;
}

FakeAnswer FakeRegionCalls::scan(const FakeRequest& request) {
  const auto message = parsed<pb::ScanRequest>(request.message);
  if (message.has_region() && table_of(message.region().value()) == kMeta) {
    return scan_meta(message);
  }
  std::uint64_t id = message.scanner_id();
  if (message.has_region()) {
    auto wrong = open_scan(request, message, id);
    if (wrong) return refusal(*std::move(wrong));
  }
  const auto found = scans_.find(id);
  if (found == scans_.end()) {
    if (message.close_scanner()) return answer(pb::ScanResponse());
    return refusal({"UnknownScannerException", "no scanner " + std::to_string(id), true});
  }
  OpenScan& open = found->second;
  const FakeRegion* const region = data_.region_named(open.region.full_name());
  if (region == nullptr || region->server != request.server) {
    scans_.erase(found);
    return refusal({"NotServingRegionException", "Region has changed on the scanner", false});
  }
  if (!message.has_region() && message.has_next_call_seq() &&
      message.next_call_seq() != open.next_call++) {
    return refusal({"exceptions.OutOfOrderScannerNextException", "sequence", true});
  }
  return next_rows(message, id);
}

FakeAnswer FakeRegionCalls::next_rows(const pb::ScanRequest& message, std::uint64_t id) {
  OpenScan& open = scans_.at(id);
  pb::ScanResponse response;
  Bytes cellblock;
  std::size_t left = std::min<std::size_t>(message.number_of_rows(), rows_per_answer_);
  pb::Get all;
  for (const pb::Column& column : open.scan.column()) *all.add_column() = column;
  for (; left > 0 && !open.rows.empty(); --left) {
    all.set_row(open.rows.back());
    open.rows.pop_back();
    const std::uint32_t cells = append_cells(open.region.table, all, cellblock);
    if (cells == 0) continue;
    response.add_cells_per_result(cells);
    response.add_partial_flag_per_result(false);
  }
  response.set_scanner_id(id);
  response.set_ttl(60'000);
  response.set_more_results(true);
  response.set_more_results_in_region(!open.rows.empty());
  if (open.rows.empty() || message.close_scanner()) scans_.erase(id);
  return answer(response, std::move(cellblock));
}

}  // namespace halite::test
