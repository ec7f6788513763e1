#include "app/stores/sides.h"

#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/server/wait_for.h"
#include "app/settings/options.h"
#include "app/stores/cells.h"
#include "query/parse/aggregator.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::app {
namespace {

// JSON, or the content of the named file.
Result<std::string> config_text(const std::string& setting, const std::string& value) {
  if (!value.ends_with(".json")) return value;
  std::ifstream file(value);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return fail(Errc::kNotFound, fmt::format("{}: cannot read the file \"{}\"", setting, value));
  }
  return std::move(text).str();
}

std::unexpected<Error> named(const std::string& setting, Error error) {
  error.message = fmt::format("{}: {}", setting, error.message);
  return std::unexpected(std::move(error));
}

// nullopt if rollups.enabled is off. kInvalidArgument names the setting and the error; kNotFound:
// its file does not exist.
Result<std::optional<storage::RollupConfig>> rollup_config(const Options& options) {
  const std::string setting = "rollups.config";
  if (!options.rollups.enabled) return std::optional<storage::RollupConfig>();
  if (options.rollups.config.empty()) {
    return fail(Errc::kInvalidArgument,
                "Rollups are enabled but 'tsd.rollups.config' (rollups.config) is null or empty.");
  }
  TRY(const std::string text, config_text(setting, options.rollups.config));
  auto config = storage::parse_rollup_config(text, query::aggregator_names());
  if (!config) return named(setting, std::move(config).error());
  return std::optional(*std::move(config));
}

// The TTL of a metric's points, by the retention rule with the longest prefix.
std::function<std::int64_t(std::string_view)> ttl_of_metrics(const Options& options) {
  return [base = options.layout.ttl_ms, rules = options.engine.retention](std::string_view metric) {
    const storage::RetentionRule* best = nullptr;
    for (const storage::RetentionRule& rule : rules) {
      if (!metric.starts_with(rule.prefix)) continue;
      if (best == nullptr || best->prefix.size() < rule.prefix.size()) best = &rule;
    }
    return best == nullptr ? base : best->ttl_ms;
  };
}

// nullopt if histograms.config is empty.
Result<std::optional<storage::HistogramConfig>> histogram_config(const Options& options) {
  const std::string setting = "histograms.config";
  if (options.histograms.empty()) return std::optional<storage::HistogramConfig>();
  TRY(const std::string text, config_text(setting, options.histograms));
  auto config = storage::parse_histogram_config(text);
  if (!config) return named(setting, std::move(config).error());
  return std::optional(*config);
}

}  // namespace

Result<std::unique_ptr<storage::ViewStore>> open_views(const OpenContext& context,
                                                       Backend& backend) {
  const Options& options = context.options;
  if (context.cells.scan.shared_tables) return std::unique_ptr<storage::ViewStore>();
  TRY(std::vector<storage::ViewRule> rules, storage::parse_view_rules(options.views));
  storage::ViewStore::Dependencies dependencies{.store = *backend.wide,
                                                .points = backend.points->store(),
                                                .uids = backend.points->uids(),
                                                .widths = backend.widths,
                                                .table = "halite-views",
                                                .clock = context.clock,
                                                .ttl_ms = ttl_of_metrics(options),
                                                .registry = context.registry};
  auto opening = storage::ViewStore::open(std::move(dependencies), std::move(rules),
                                          options.view_limits, options.read_only.wanted);
  return wait_for(context.executor, std::move(opening));
}

Result<Sides> open_sides(const OpenContext& context, Backend& backend,
                         storage::PointStore& points) {
  const Options& options = context.options;
  const storage::CellPointStoreOptions& cells = context.cells;
  TRY(std::optional<storage::RollupConfig> rollups, rollup_config(options));
  TRY(const std::optional<storage::HistogramConfig> histograms, histogram_config(options));
  // The rows have OpenTSDB's layout. Histograms are stored among the points if those have it too.
  const bool opentsdb = backend.point_rows != nullptr;
  TRY(const std::shared_ptr<const storage::OpentsdbLayout> rows,
      storage::OpentsdbLayout::make(opentsdb_rows(options, opentsdb ? options.salt_width : 0)));
  Sides sides;
  TRY(storage::CounterRules rules,
      storage::CounterRules::parse(options.counters, options.layout.ttl_ms));
  storage::CounterStore::Dependencies counters{.store = *backend.wide,
                                               .points = points,
                                               .series = backend.points->series(),
                                               .rows = rows,
                                               .scan = cells.scan,
                                               .data_table = cells.data_table,
                                               .settings_table = cells.settings_table,
                                               .clock = context.clock,
                                               .executor = context.executor,
                                               .registry = context.registry};
  storage::CounterLimits limits = options.counter_limits;
  limits.ahead_max_ms = options.layout.forecast_max_ms;
  auto opening_counters =
      storage::CounterStore::open(std::move(counters), std::move(rules), limits);
  TRY(sides.counters, wait_for(context.executor, std::move(opening_counters)));
  if (rollups) {
    storage::RollupTables::Dependencies dependencies{.store = *backend.wide,
                                                     .series = backend.points->series(),
                                                     .rows = rows,
                                                     .scan = cells.scan,
                                                     .data_table = cells.data_table,
                                                     .settings_table = cells.settings_table,
                                                     .clock = context.clock,
                                                     .registry = context.registry};
    auto opening = storage::RollupTables::open(std::move(dependencies), *std::move(rollups));
    TRY(sides.rollups, wait_for(context.executor, std::move(opening)));
  }
  if (histograms) {
    storage::HistogramCells::Dependencies dependencies{
        .store = *backend.wide,
        .series = backend.points->series(),
        .rows = rows,
        .scan = cells.scan,
        .table = opentsdb ? cells.data_table : cells.data_table + "-histogram",
        .cell_ttl_ms = cells.cell_ttl_ms,
        .settings_table = cells.settings_table,
        .clock = context.clock,
        .registry = context.registry};
    auto opening = storage::HistogramCells::open(std::move(dependencies), *histograms);
    TRY(sides.histograms, wait_for(context.executor, std::move(opening)));
  }
  return sides;
}

}  // namespace halite::app
