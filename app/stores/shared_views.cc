#include "app/stores/shared_views.h"

#include <random>
#include <utility>

#include <fmt/format.h>

#include "app/server/wait_for.h"
#include "app/settings/options.h"
#include "storage/cells/cell_point_store.h"

namespace halite::app {
namespace {

// No other server or start has it.
Bytes new_lease_id() {
  std::random_device random;
  Bytes id;
  while (id.size() < storage::ViewLease::kIdBytes) {
    append_be<std::uint32_t>(id, static_cast<std::uint32_t>(random()));
  }
  id.front() = static_cast<char>(id.front() | 1);  // not all zero
  return id;
}

}  // namespace

Result<std::unique_ptr<storage::SharedViews>> open_shared_views(const OpenContext& context,
                                                                Backend& backend,
                                                                storage::RollupTables* rollups) {
  const Options& options = context.options;
  if (!context.cells.scan.shared_tables) return std::unique_ptr<storage::SharedViews>();
  TRY(std::vector<storage::ViewRule> rules, storage::parse_view_rules(options.views));
  if (rules.empty()) return std::unique_ptr<storage::SharedViews>();
  if (rollups == nullptr || backend.point_rows == nullptr) {
    return fail(Errc::kInvalidArgument,
                "views with --store hbase require rollups and storage.layout = opentsdb");
  }
  TRY(std::shared_ptr<storage::Table> points,
      wait_for(context.executor,
               backend.wide->open_table(storage::data_table_spec(context.cells))));
  const std::int64_t ttl_ms = options.layout.ttl_ms;
  storage::SharedViews::Dependencies dependencies{
      .views = {.store = *backend.wide,
                .points = backend.points->store(),
                .uids = backend.points->uids(),
                .widths = backend.widths,
                .table = "halite-views",
                .clock = context.clock,
                .ttl_ms = [ttl_ms](std::string_view) { return ttl_ms; },
                .registry = context.registry},
      .rollups = *rollups,
      .points = {.table = std::move(points), .family = 0, .rows = backend.point_rows},
      .names = {.key = options.rollups.rules.aggregate_tag,
                .raw_value = options.rollups.rules.raw_value,
                .tag_raw = options.rollups.rules.tag_raw},
      .lease_id = new_lease_id(),
      .host = fmt::format("{}:{}", options.self_metrics.host, options.web.port)};
  return wait_for(
      context.executor,
      storage::SharedViews::open(std::move(dependencies), std::move(rules), options.view_limits));
}

}  // namespace halite::app
