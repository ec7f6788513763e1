#include "tests/support/fake_region_calls.h"

#include <utility>

#include "common/check.h"
#include "storage/backends/hbase/proto/admin.pb.h"
#include "storage/backends/hbase/proto/bulk_load.pb.h"
#include "storage/backends/hbase/proto/rpc.pb.h"
#include "tests/support/fake_answer.h"
#include "tests/support/fake_key_value.h"

namespace halite::test {
namespace {

namespace pb = storage::hbase::pb;

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
  } else if (call.method == "BulkLoadHFile") {
    const auto message = parsed<pb::BulkLoadHFileRequest>(request.message);
    call.table = table_of(message.region().value());
    call.actions = static_cast<std::size_t>(message.family_path_size());
  } else if (call.method == "CompactRegion") {
    const auto message = parsed<pb::CompactRegionRequest>(request.message);
    call.table = table_of(message.region().value());
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
  if (request.method == "Mutate") return mutate(request, reaction);
  if (request.method == "Multi") return multi(request, reaction);
  if (request.method == "Scan") return scans_.scan(request);
  if (FakeMaster::does(request.method)) return master_.run(request);
  if (FakeBulkLoads::does(request.method)) return loads_.run(request, reaction);
  if (request.method == "GetRegionLoad") return region_load(request);
  if (request.method == "CompactRegion") return compact(request);
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

std::optional<FakeException> FakeRegionCalls::check_region(const FakeRequest& request,
                                                           BytesView name, BytesView row,
                                                           FakeRegion*& region) {
  region = data_.region_named(name);
  const bool here = region != nullptr && region->server == request.server && !region->closed;
  if (!here || data_.disabled(region->table)) {
    return FakeException{"NotServingRegionException", Bytes(name) + " is not online", false};
  }
  if (!region->contains(row)) {
    return FakeException{"regionserver.WrongRegionException", "row out of range", false};
  }
  return std::nullopt;
}

FakeAnswer FakeRegionCalls::region_load(const FakeRequest& request) const {
  const auto message = parsed<pb::GetRegionLoadRequest>(request.message);
  pb::GetRegionLoadResponse response;
  for (const FakeRegion& region : data_.regions_const()) {
    if (region.server != request.server || region.table != message.table_name().qualifier()) {
      continue;
    }
    pb::RegionLoad& load = *response.add_region_loads();
    load.mutable_region_specifier()->set_type(pb::RegionSpecifier::REGION_NAME);
    load.mutable_region_specifier()->set_value(region.full_name());
    load.set_store_files(region.files);
    load.set_last_major_compaction_ts(region.compacted);
  }
  return answer(response);
}

FakeAnswer FakeRegionCalls::compact(const FakeRequest& request) {
  const auto message = parsed<pb::CompactRegionRequest>(request.message);
  FakeRegion* const region = data_.region_named(message.region().value());
  if (region == nullptr || region->server != request.server) {
    return refusal({"NotServingRegionException", "it is not online", false});
  }
  region->files = 1;
  region->compacted = data_.now();
  return answer(pb::CompactRegionResponse());
}

FakeAnswer FakeRegionCalls::get(const FakeRequest& request) {
  const auto message = parsed<pb::GetRequest>(request.message);
  pb::GetResponse response;
  Bytes cellblock;
  if (table_of(message.region().value()) == kFakeMeta) {
    const bool disabled = data_.disabled(message.get().row());
    const Bytes state(disabled ? "\x08\x01" : "\x08\x00", 2);
    append_cell(cellblock, {message.get().row(), "table", "state", 1, state});
    response.mutable_result()->set_associated_cell_count(1);
    return answer(response, std::move(cellblock));
  }
  FakeRegion* region = nullptr;
  auto wrong = check_region(request, message.region().value(), message.get().row(), region);
  if (wrong) return refusal(*std::move(wrong));
  const std::uint32_t cells = append_cells(data_, region->table, message.get(), cellblock);
  response.mutable_result()->set_associated_cell_count(static_cast<int>(cells));
  return answer(response, std::move(cellblock));
}

void FakeRegionCalls::apply(const std::string& table, const pb::MutationProto& mutation,
                            BytesView& cellblock, std::uint64_t nonce_group) {
  for (FakeChange& change : changes_of(mutation, cellblock)) {
    if (change.kind == kDeleteVersionType && change.cell.time == kLatestTime) {
      for (const FakeCell& cell : data_.cells(table, change.cell.row)) {
        const bool it =
            cell.family == change.cell.family && cell.qualifier == change.cell.qualifier;
        if (it) change.cell.time = cell.time;
      }
    }
    if (change.cell.time == kLatestTime) change.cell.time = data_.now();
    if (mutation.mutate_type() == pb::MutationProto::APPEND) {
      data_.append(table, change.cell, nonce_group, mutation.nonce());
    } else if (change.kind == kPutType) {
      data_.put(table, std::move(change.cell));
    } else if (change.kind == kDeleteVersionType) {
      data_.remove_version(table, change.cell);
    } else {
      data_.remove(table, change.cell, change.cell.time);
    }
  }
}

// The counters as they are then. Nothing: one of them is no counter.
std::optional<std::vector<FakeCell>> FakeRegionCalls::increment(const std::string& table,
                                                                const pb::MutationProto& mutation,
                                                                BytesView& cellblock,
                                                                std::uint64_t nonce_group,
                                                                std::uint64_t nonce) {
  std::vector<FakeCell> counters;
  for (FakeChange& change : changes_of(mutation, cellblock)) {
    HALITE_CHECK(change.cell.value.size() == 8, "a delta has 8 bytes");
    FakeCell& cell = counters.emplace_back(std::move(change.cell));
    const auto delta = static_cast<std::int64_t>(load_be<std::uint64_t>(cell.value.data()));
    // Each cell has a nonce of its own here, which comes from that of the request.
    const std::uint64_t own = nonce == 0 ? 0 : nonce + counters.size() - 1;
    const auto sum = data_.increment(table, cell, delta, nonce_group, own);
    if (!sum) return std::nullopt;
    cell.value.clear();
    append_be(cell.value, static_cast<std::uint64_t>(*sum));
  }
  return counters;
}

bool FakeRegionCalls::fits(const std::string& table, const pb::Condition& condition) const {
  pb::BinaryComparator expected;
  if (condition.comparator().name().ends_with("BinaryComparator")) {
    expected = parsed<pb::BinaryComparator>(condition.comparator().serialized_comparator());
  }
  Bytes held;
  for (const FakeCell& cell : data_.cells(table, condition.row())) {
    const bool it = cell.family == condition.family() && cell.qualifier == condition.qualifier();
    if (it) held = cell.value;
  }
  return held == expected.comparable().value();
}

FakeAnswer FakeRegionCalls::mutate(const FakeRequest& request, const FakeReaction& reaction) {
  const auto message = parsed<pb::MutateRequest>(request.message);
  const pb::MutationProto& mutation = message.mutation();
  FakeRegion* region = nullptr;
  auto wrong = check_region(request, message.region().value(), mutation.row(), region);
  if (wrong) return refusal(*std::move(wrong));
  BytesView cellblock = request.cellblock;
  pb::MutateResponse response;
  response.set_processed(true);
  if (mutation.mutate_type() == pb::MutationProto::INCREMENT) {
    const auto counters =
        increment(region->table, mutation, cellblock, message.nonce_group(), mutation.nonce());
    if (!counters) return refusal({"DoNotRetryIOException", "no words that anybody knows", true});
    if (reaction.what == FakeReaction::kSayNothing) return answer(response);
    Bytes out;
    for (const FakeCell& cell : *counters) append_cell(out, cell);
    response.mutable_result()->set_associated_cell_count(static_cast<int>(counters->size()));
    return answer(response, std::move(out));
  }
  if (message.has_condition() && !fits(region->table, message.condition())) {
    response.set_processed(false);
    return answer(response);
  }
  apply(region->table, mutation, cellblock, message.nonce_group());
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
    if (part.has_condition() && !fits(region->table, part.condition())) {
      for (const pb::Action& action : part.action()) {
        std::ignore = changes_of(action.mutation(), cellblock);
        result.add_result_or_exception()->set_index(action.index());
      }
      result.set_processed(false);
      continue;
    }
    for (int j = 0; j < part.action_size(); ++j) {
      const pb::Action& action = part.action(j);
      pb::ResultOrException& one = *result.add_result_or_exception();
      one.set_index(action.index());
      if (i == 0 && j == 0 && reaction.what == FakeReaction::kThrowOnAction) {
        std::ignore = changes_of(action.mutation(), cellblock);
        set_exception(*one.mutable_exception(), reaction.exception, reaction.text);
      } else if (action.mutation().mutate_type() == pb::MutationProto::INCREMENT &&
                 !part.atomic()) {
        const auto counters = increment(region->table, action.mutation(), cellblock,
                                        message.nonce_group(), action.mutation().nonce());
        if (!counters) {
          set_exception(*one.mutable_exception(), "DoNotRetryIOException", "no known words");
          continue;
        }
        if (reaction.what == FakeReaction::kSayNothing) {
          one.mutable_result();
          continue;
        }
        for (const FakeCell& cell : *counters) append_cell(out, cell);
        one.mutable_result()->set_associated_cell_count(static_cast<int>(counters->size()));
      } else if (action.mutation().mutate_type() == pb::MutationProto::INCREMENT) {
        // As HBase does here: without a look at nonces, and not in the cellblock.
        const auto counters = increment(region->table, action.mutation(), cellblock, 0, 0);
        HALITE_CHECK(counters.has_value(), "only counters are added to in a Multi");
        for (const FakeCell& counter : *counters) {
          pb::Cell& cell = *one.mutable_result()->add_cell();
          cell.set_row(counter.row);
          cell.set_family(counter.family);
          cell.set_qualifier(counter.qualifier);
          cell.set_timestamp(counter.time);
          cell.set_value(counter.value);
        }
      } else if (action.has_get()) {
        const std::uint32_t cells = append_cells(data_, region->table, action.get(), out);
        one.mutable_result()->set_associated_cell_count(static_cast<int>(cells));
      } else {
        apply(region->table, action.mutation(), cellblock, message.nonce_group());
        one.mutable_result();
      }
    }
    result.set_processed(true);
  }
  return answer(response, std::move(out));
}

}  // namespace halite::test
