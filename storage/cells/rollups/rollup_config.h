// Which rollups are kept and in which tables, and which histograms are read: OpenTSDB's
// tsd.rollups.config and tsd.core.histograms.config.
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
  std::string interval;       // "1h", as written: rollups come in and are answered under this name
  RollupInterval cells;       // how its rows are cut
  std::string table;          // of rolled up series
  std::string pre_aggregate;  // of rolled up groups of series
  bool is_default = false;    // as fine as the points themselves: questions read those
};

struct RollupConfig {
  std::map<std::string, std::uint8_t, std::less<>> ids;  // of aggregators, in lower case
  std::vector<RollupTableConfig> tables;                 // one a interval; exactly one is_default

  [[nodiscard]] const RollupTableConfig* find(std::string_view interval) const;
  [[nodiscard]] const RollupTableConfig& default_table() const;
  // By the name a question or a point uses, in any case: zimsum is kept as sum, mimmin as min,
  // mimmax as max. kInvalidArgument: it has no id.
  [[nodiscard]] Result<std::uint8_t> id_of(std::string_view aggregator) const;
};

// `aggregators`: the names there are. kInvalidArgument says what is wrong.
[[nodiscard]] Result<RollupConfig> parse_rollup_config(std::string_view json,
                                                       std::span<const std::string> aggregators);

struct HistogramConfig {
  std::optional<std::uint8_t> simple_id;  // under which simple histograms are stored
};

// kInvalidArgument: no JSON, an id out of range, or a kind of histogram that is not built in.
[[nodiscard]] Result<HistogramConfig> parse_histogram_config(std::string_view json);

}  // namespace halite::storage
