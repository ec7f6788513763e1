#include "storage/backends/hbase/client/admin.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/gather.h"
#include "storage/backends/hbase/client/admin_call.h"
#include "storage/backends/hbase/messages/table_message.h"

namespace halite::storage::hbase {

namespace {

constexpr std::size_t kServersAtOnce = 32;

Bytes table_request(const ClientContextPtr& context, const std::string& table) {
  pb::TableRequest request;
  *request.mutable_table_name() = table_name(table);
  request.set_nonce_group(context->nonce_group);
  request.set_nonce(context->nonce());
  return request.SerializeAsString();
}

Task<void> change_table(ClientContextPtr context, const char* method, std::string table) {
  Bytes message = table_request(context, table);
  Task<void> running = run_procedure(context, method, std::move(message));
  const Result<void> outcome = co_await std::move(running);
  context->locator.forget_table(table);
  co_return outcome;
}

// Reads all regions again, with retries.
Task<std::vector<RegionPtr>> regions_of(ClientContextPtr context, std::string table) {
  Retry retry(context, context->options.operation_ms_max, Subject::kTables);
  for (;;) {
    RemoteTask<std::vector<RegionPtr>> asking = context->locator.all(table);
    Outcome<std::vector<RegionPtr>> regions = co_await std::move(asking);
    if (regions) co_return *std::move(regions);
    Task<void> pausing = retry.after(regions.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

// Calls the server of a region until the call succeeds, even if the region moves.
Task<void> call_region(ClientContextPtr context, RegionPtr region, const char* method, bool major) {
  Retry retry(context, context->options.procedure_ms_max, Subject::kTables);
  for (;;) {
    Bytes message;
    if (major) {
      pb::CompactRegionRequest request;
      set_region(*request.mutable_region(), region->name);
      request.set_major(true);
      message = request.SerializeAsString();
    } else {
      pb::FlushRegionRequest request;
      set_region(*request.mutable_region(), region->name);
      message = request.SerializeAsString();
    }
    Outcome<Reply> reply =
        std::unexpected(Fault{.remedy = Remedy::kRelocate,
                              .error = {Errc::kUnavailable, "no server has this region now", {}},
                              .moved = {}});
    if (region->server.port != 0) {
      RemoteTask<Reply> calling =
          call_region_server(context, region->server, method, std::move(message), retry.call_ms());
      reply = co_await std::move(calling);
    }
    if (reply) co_return Result<void>();
    context->locator.learn(region, reply.error());
    Task<void> pausing = retry.after(reply.error());
    CO_TRY_VOID(co_await std::move(pausing));
    RemoteTask<RegionPtr> locating = context->locator.locate(region->table, region->begin);
    Outcome<RegionPtr> located = co_await std::move(locating);
    if (located) region = *std::move(located);
  }
}

Task<void> call_regions(ClientContextPtr context, std::vector<RegionPtr> regions,
                        const char* method, bool major) {
  std::vector<Task<void>> calls;
  for (RegionPtr& region : regions) {
    calls.push_back(call_region(context, std::move(region), method, major));
  }
  auto gathering = gather(std::move(calls), kServersAtOnce);
  const std::vector<Result<void>> outcomes = co_await std::move(gathering);
  for (const Result<void>& outcome : outcomes) CO_TRY_VOID(outcome);
  co_return Result<void>();
}

// Copies a server's report on its regions to the entries of these regions.
void apply(const pb::GetRegionLoadResponse& response, std::vector<RegionStatus>& regions) {
  std::map<BytesView, RegionStatus*> by_name;
  for (RegionStatus& region : regions) by_name.emplace(region.name, &region);
  for (const pb::RegionLoad& load : response.region_loads()) {
    const auto found = by_name.find(load.region_specifier().value());
    if (found == by_name.end()) continue;
    RegionStatus& region = *found->second;
    region.read_requests = load.read_requests_count();
    region.write_requests = load.write_requests_count();
    region.files = load.store_files();
    region.files_mib = load.store_file_size_mb();
    region.memory_mib = load.memory_store_size_mb();
    region.major_compacted = static_cast<TimestampMs>(load.last_major_compaction_ts());
  }
}

}  // namespace

Task<void> create_table(ClientContextPtr context, TableDescriptor table,
                        std::vector<Bytes> split_keys) {
  pb::CreateTableRequest request;
  *request.mutable_table_schema() = schema_from(table);
  for (Bytes& key : split_keys) request.add_split_keys(std::move(key));
  request.set_nonce_group(context->nonce_group);
  request.set_nonce(context->nonce());
  Task<void> running = run_procedure(context, "CreateTable", request.SerializeAsString());
  const Result<void> outcome = co_await std::move(running);
  context->locator.forget_table(table.name);
  co_return outcome;
}

Task<void> modify_table(ClientContextPtr context, TableDescriptor table) {
  pb::ModifyTableRequest request;
  *request.mutable_table_name() = table_name(table.name);
  *request.mutable_table_schema() = schema_from(table);
  request.set_nonce_group(context->nonce_group);
  request.set_nonce(context->nonce());
  Task<void> running = run_procedure(context, "ModifyTable", request.SerializeAsString());
  co_return co_await std::move(running);
}

Task<std::optional<TableDescriptor>> describe_table(ClientContextPtr context, std::string table) {
  pb::GetTableDescriptorsRequest request;
  *request.add_table_names() = table_name(table);
  request.set_include_sys_tables(false);
  Task<Reply> calling = call_master(context, "GetTableDescriptors", request.SerializeAsString());
  CO_TRY(const Reply reply, co_await std::move(calling));
  CO_TRY(const auto response, read_message<pb::GetTableDescriptorsResponse>(reply));
  for (const pb::TableSchema& schema : response.table_schema()) {
    if (table_text(schema.table_name()) == table) co_return descriptor_from(schema);
  }
  co_return std::optional<TableDescriptor>();
}

Task<std::optional<TableState>> table_state(ClientContextPtr context, std::string table) {
  pb::GetTableStateRequest request;
  *request.mutable_table_name() = table_name(table);
  Task<Reply> calling = call_master(context, "GetTableState", request.SerializeAsString());
  const Result<Reply> reply = co_await std::move(calling);
  if (!reply && reply.error().code == Errc::kNotFound) co_return std::optional<TableState>();
  if (!reply) co_return std::unexpected(reply.error());
  CO_TRY(const auto response, read_message<pb::GetTableStateResponse>(*reply));
  co_return static_cast<TableState>(std::min(response.table_state().state(), 3U));
}

Task<void> enable_table(ClientContextPtr context, std::string table) {
  return change_table(std::move(context), "EnableTable", std::move(table));
}

Task<void> disable_table(ClientContextPtr context, std::string table) {
  return change_table(std::move(context), "DisableTable", std::move(table));
}

Task<void> drop_table(ClientContextPtr context, std::string table) {
  return change_table(std::move(context), "DeleteTable", std::move(table));
}

Task<void> flush_table(ClientContextPtr context, std::string table) {
  Task<std::vector<RegionPtr>> asking = regions_of(context, std::move(table));
  CO_TRY(std::vector<RegionPtr> regions, co_await std::move(asking));
  Task<void> flushing = call_regions(context, std::move(regions), "FlushRegion", false);
  co_return co_await std::move(flushing);
}

Task<void> compact_regions(ClientContextPtr context, std::string table, std::vector<Bytes> names) {
  Task<std::vector<RegionPtr>> asking = regions_of(context, std::move(table));
  CO_TRY(std::vector<RegionPtr> regions, co_await std::move(asking));
  if (!names.empty()) {
    const std::set<Bytes> wanted(names.begin(), names.end());
    std::erase_if(regions,
                  [&wanted](const RegionPtr& region) { return !wanted.contains(region->name); });
  }
  Task<void> compacting = call_regions(context, std::move(regions), "CompactRegion", true);
  co_return co_await std::move(compacting);
}

Task<std::vector<ServerStatus>> server_statuses(ClientContextPtr context) {
  constexpr std::uint32_t kLiveServers = 2;
  pb::GetClusterStatusRequest request;
  request.add_options(kLiveServers);
  Task<Reply> calling = call_master(context, "GetClusterStatus", request.SerializeAsString());
  CO_TRY(const Reply reply, co_await std::move(calling));
  CO_TRY(const auto response, read_message<pb::GetClusterStatusResponse>(reply));
  std::vector<ServerStatus> servers;
  for (const pb::LiveServerInfo& live : response.cluster_status().live_servers()) {
    const Endpoint server{live.server().host_name(),
                          static_cast<std::uint16_t>(live.server().port())};
    servers.push_back({.server = server, .heap_mib_max = live.server_load().max_heap_mb()});
  }
  co_return servers;
}

Task<std::vector<RegionStatus>> region_statuses(ClientContextPtr context, std::string table) {
  Task<std::vector<RegionPtr>> asking = regions_of(context, table);
  CO_TRY(const std::vector<RegionPtr> regions, co_await std::move(asking));
  std::vector<RegionStatus> statuses;
  std::set<Endpoint> servers;
  for (const RegionPtr& region : regions) {
    RegionStatus& status = statuses.emplace_back();
    status.name = region->name;
    status.begin = region->begin;
    status.end = region->end;
    status.server = region->server;
    if (region->server.port != 0) servers.insert(region->server);
  }
  pb::GetRegionLoadRequest request;
  *request.mutable_table_name() = table_name(table);
  for (const Endpoint& server : servers) {
    RemoteTask<Reply> calling =
        call_region_server(context, server, "GetRegionLoad", request.SerializeAsString(),
                           context->options.call_ms_max);
    const Outcome<Reply> reply = co_await std::move(calling);
    // A server that has just died has no report; its regions will move soon.
    if (!reply) continue;
    CO_TRY(const auto response, read_message<pb::GetRegionLoadResponse>(*reply));
    apply(response, statuses);
  }
  co_return statuses;
}

}  // namespace halite::storage::hbase
