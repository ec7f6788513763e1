// GET /api/server/regions: the regions of the point table on an HBase cluster, and their load.
//
// Parameters  none
// Answer      200 {"table":"tsdb","servers":[{"server":"host:16020","regions":<n>,"hot":<n>,
//             "reads":<n>,"writes":<n>,"filesMib":<n>,"memoryMib":<n>},..],"regions":[{"from":"..",
//             "server":"..","reads","writes","files","filesMib","memoryMib","hot":false},..]}:
//             requests since each region was opened; an empty server: on no server now
// Errors      501 points are not on a cluster; 408, 503 the cluster does not answer
#include <iterator>

#include <fmt/format.h>

#include "common/json_list.h"
#include "common/json_string.h"
#include "storage/backends/hbase/regions/table_regions.h"
#include "web/handlers/handlers.h"

namespace halite::web {

namespace {

void append_server(std::string& to, const storage::ServerLoad& load) {
  to += "{\"server\":";
  append_json_string(to, load.server);
  fmt::format_to(std::back_inserter(to),
                 R"(,"regions":{},"hot":{},"reads":{},"writes":{},"filesMib":{},"memoryMib":{}}})",
                 load.regions, load.hot, load.reads, load.writes, load.files_mib, load.memory_mib);
}

void append_region(std::string& to, const storage::TableRegion& region) {
  to += "{\"from\":";
  append_json_string(to, region.from);
  to += ",\"server\":";
  append_json_string(to, region.server);
  fmt::format_to(std::back_inserter(to),
                 R"(,"reads":{},"writes":{},"files":{},"filesMib":{},"memoryMib":{},"hot":{}}})",
                 region.reads, region.writes, region.files, region.files_mib, region.memory_mib,
                 region.hot);
}

}  // namespace

boost::asio::awaitable<Response> show_regions(Call& call) {
  if (!call.services.regions) {
    co_return error_response(call, 501, "This server does not store points on a cluster");
  }
  auto asking = call.services.regions();
  const Result<storage::TableRegions> table = co_await std::move(asking);
  if (!table) co_return error_response(call, table.error());
  std::string json = "{\"table\":";
  append_json_string(json, table->table);
  json += ",\"servers\":";
  append_json_list(json, storage::loads_of_servers(*table),
                   [&json](const auto& load) { append_server(json, load); });
  json += ",\"regions\":";
  append_json_list(json, table->regions,
                   [&json](const auto& region) { append_region(json, region); });
  co_return json_response(200, json + '}');
}

}  // namespace halite::web
