// The configuration of rollup tables and histograms: OpenTSDB's tsd.rollups.config and
// tsd.core.histograms.config.
//
//   {"aggregationIds":{"sum":0,"count":1},
//    "intervals":[{"table":"tsdb","preAggregationTable":"tsdb-preagg","interval":"1m",
//                  "rowSpan":"1h","defaultInterval":true},
//                 {"table":"tsdb-rollup-1h","preAggregationTable":"tsdb-preagg-1h",
//                  "interval":"1h","rowSpan":"1d"}]}
//
//   {"net.opentsdb.core.SimpleHistogramDecoder":42}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "storage/cells/layouts/rollup_cell.h"

namespace halite::storage {

struct RollupTableConfig {
  std::string interval;       // "1h", as written: the name of the interval in requests and answers
  RollupInterval cells;       // the layout of its rows
  std::string table;          // of rolled-up series
  std::string pre_aggregate;  // of rolled-up groups of series
  bool is_default = false;    // queries at this interval read the points themselves
};

struct RollupConfig {
  std::map<std::string, std::uint8_t, std::less<>> ids;  // of aggregators, in lower case
  std::vector<RollupTableConfig> tables;  // one for each interval; exactly one is_default

  [[nodiscard]] const RollupTableConfig* find(std::string_view interval) const;
  [[nodiscard]] const RollupTableConfig& default_table() const;
  // Accepts the names of queries and points, in any case: zimsum is stored as sum, mimmin as min,
  // mimmax as max. kInvalidArgument: it has no id.
  [[nodiscard]] Result<std::uint8_t> id_of(std::string_view aggregator) const;
};

// `aggregators`: the valid names. kInvalidArgument describes the error.
[[nodiscard]] Result<RollupConfig> parse_rollup_config(std::string_view json,
                                                       std::span<const std::string> aggregators);

struct HistogramConfig {
  std::optional<std::uint8_t> simple_id;  // codec id of simple histograms
};

// kInvalidArgument: invalid JSON, an id out of range, or an unknown kind of histogram.
[[nodiscard]] Result<HistogramConfig> parse_histogram_config(std::string_view json);

}  // namespace halite::storage
