#include "tests/support/fake_master.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace halite::test {

namespace pb = storage::hbase::pb;

namespace {

FakeAnswer done() {
  pb::ProcedureResponse response;
  response.set_proc_id(1);
  return answer(response);
}

FakeAnswer no_table(const std::string& table) {
  return refusal({"TableNotFoundException", table, true});
}

}  // namespace

bool FakeMaster::does(const std::string& method) {
  constexpr auto kMethods = std::to_array<std::string_view>(
      {"CreateTable", "ModifyTable", "EnableTable", "DisableTable", "GetTableDescriptors",
       "GetTableState", "getProcedureResult", "GetClusterStatus"});
  return std::ranges::find(kMethods, method) != kMethods.end();
}

FakeAnswer FakeMaster::run(const FakeRequest& request) {
  if (request.method == "CreateTable") return create(request);
  if (request.method == "ModifyTable") return modify(request);
  if (request.method == "GetTableDescriptors") return describe(request);
  if (request.method == "GetTableState") return state(request);
  if (request.method == "GetClusterStatus") return status();
  if (request.method == "getProcedureResult") {
    pb::GetProcedureResultResponse response;
    response.set_state(pb::GetProcedureResultResponse::FINISHED);
    return answer(response);
  }
  const auto message = parsed<pb::TableRequest>(request.message);
  const std::string& table = message.table_name().qualifier();
  if (!data_.has_table(table)) return no_table(table);
  data_.set_disabled(table, request.method == "DisableTable");
  return done();
}

FakeAnswer FakeMaster::create(const FakeRequest& request) {
  const auto message = parsed<pb::CreateTableRequest>(request.message);
  const std::string& table = message.table_schema().table_name().qualifier();
  if (data_.has_table(table)) return refusal({"TableExistsException", table, true});
  schemas_[table] = message.table_schema();
  data_.add_table(table, {message.split_keys().begin(), message.split_keys().end()});
  return done();
}

FakeAnswer FakeMaster::modify(const FakeRequest& request) {
  const auto message = parsed<pb::ModifyTableRequest>(request.message);
  const std::string& table = message.table_name().qualifier();
  if (!schemas_.contains(table)) return no_table(table);
  schemas_[table] = message.table_schema();
  return done();
}

FakeAnswer FakeMaster::describe(const FakeRequest& request) const {
  const auto message = parsed<pb::GetTableDescriptorsRequest>(request.message);
  pb::GetTableDescriptorsResponse response;
  for (const pb::TableName& name : message.table_names()) {
    const auto found = schemas_.find(name.qualifier());
    if (found != schemas_.end()) *response.add_table_schema() = found->second;
  }
  return answer(response);
}

FakeAnswer FakeMaster::state(const FakeRequest& request) const {
  const auto message = parsed<pb::GetTableStateRequest>(request.message);
  const std::string& table = message.table_name().qualifier();
  if (!data_.has_table(table)) return no_table(table);
  pb::GetTableStateResponse response;
  response.mutable_table_state()->set_state(data_.disabled(table) ? 1 : 0);
  return answer(response);
}

FakeAnswer FakeMaster::status() const {
  pb::GetClusterStatusResponse response;
  for (const storage::hbase::Endpoint& server : servers_) {
    pb::LiveServerInfo& live = *response.mutable_cluster_status()->add_live_servers();
    live.mutable_server()->set_host_name(server.host);
    live.mutable_server()->set_port(server.port);
    live.mutable_server_load()->set_max_heap_mb(1024);
  }
  return answer(response);
}

std::string FakeMaster::attribute(const std::string& table, const std::string& family,
                                  const std::string& name) const {
  const auto schema = schemas_.find(table);
  if (schema == schemas_.end()) return {};
  for (const pb::ColumnFamilySchema& one : schema->second.column_families()) {
    if (one.name() != family) continue;
    for (const pb::BytesBytesPair& pair : one.attributes()) {
      if (pair.first() == name) return pair.second();
    }
  }
  return {};
}

}  // namespace halite::test
