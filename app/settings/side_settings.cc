// Settings of what is stored beside points: rollups, counters, views and histograms.
#include "app/settings/options.h"
#include "common/units.h"

namespace halite::app {

void declare_sides(Config& config, Options& options) {
  RollupSettings& rollups = options.rollups;
  config.flag("rollups.enabled", rollups.enabled, "Accepts and queries rollups.");
  config.text("rollups.config", rollups.config,
              "Rollup intervals, tables and aggregator ids in the format of tsd.rollups.config: "
              "JSON, or the name of a .json file.");
  config.text("rollups.aggregate_tag", rollups.rules.aggregate_tag,
              "Tag key that names the aggregator of pre-aggregated series.");
  config.text("rollups.raw_value", rollups.rules.raw_value,
              "Value of the aggregate tag for series that are not pre-aggregated. A filter with "
              "this value selects them.");
  config.flag("rollups.tag_raw", rollups.rules.tag_raw,
              "Also adds the aggregate tag to rollups of series that are not pre-aggregated.");
  config.flag("rollups.block_derived", rollups.rules.block_derived,
              "Refuses averages and deviations as rollups, because they cannot be combined. Send "
              "sums and counts instead.");
  config.tables(
      "counters", options.counters,
      "Rules of counters: [[counters]] tables in the settings file, or the same as JSON.");
  config.duration_ms("ingest.counter_collect_ms", options.counter_limits.collect_ms, {0, 10'000},
                     "Time for which increments are collected before they are written, unless a "
                     "client waits.");
  config.count("ingest.counter_cells_max", options.counter_limits.cells_max, {1, 10'000'000},
               "cells", "Collected cells of counters that start a write.");
  config.tables("views", options.views,
                "Rules of views: [[views]] tables in the settings file, or the same as JSON. With "
                "--store hbase, changes apply at the next start.");
  config.duration_ms("storage.views_settle_ms", options.view_limits.settle_ms, {1000, kDayMs},
                     "Time after the end of an hour, or of a longer bucket, at which views of it "
                     "are computed.");
  config.bytes("storage.views_bytes_max", options.view_limits.bytes_max, {1 << 20, 1ULL << 40},
               "Memory for totals of groups that are computed from points at once.");
  config.count("storage.views_metrics_max", options.view_limits.metrics_max, {1, 10'000'000},
               "metrics", "Metrics that views may cover.");
  config.count("storage.views_cpu_percent", options.views_cpu_percent, {1, 100}, "percent",
               "Percentage of one core that computing views may use on average.");
  config.text("histograms.config", options.histograms,
              "Histogram codecs and their ids in the format of tsd.core.histograms.config: JSON, "
              "or the name of a .json file. Empty = no histograms.");
}

}  // namespace halite::app
