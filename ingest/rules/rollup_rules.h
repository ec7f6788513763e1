// Validation of rollups and pre-aggregates, with OpenTSDB's order of checks and its messages.
//
// A rollup is a point of a coarser interval, aggregated over time ("1h-sum"). A pre-aggregate is
// aggregated over series, perhaps also over time. A tag holds its aggregator: "_aggregate=SUM".
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "ingest/rules/point_rules.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::ingest {

struct RollupOptions {
  std::string aggregate_tag = "_aggregate";
  std::string raw_value = "RAW";         // the tag's value for rollups of single series
  bool tag_raw = false;                  // add the tag to these rollups
  bool block_derived = true;             // refuse averages and deviations
  std::vector<std::string> aggregators;  // all valid names
};

// A point as sent, with value and timestamp parsed.
struct SentRollup {
  std::string metric;
  std::int64_t timestamp = 0;  // positive
  Number value;
  bool wide = false;  // see PointRules::validate
  TagMap tags;
  std::optional<std::string> interval;          // "1h"
  std::optional<std::string> aggregator;        // over time
  std::optional<std::string> group_aggregator;  // over series
};

struct NamedRollup {
  SeriesName series;
  const storage::RollupTableConfig* table = nullptr;  // null: a pre-aggregate without an interval
  bool pre_aggregated = false;
  std::uint8_t aggregator = 0;
  std::int64_t time_s = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

class RollupRules {
 public:
  // Without a config, rollups are off. The arguments outlive this object.
  RollupRules(const PointRules& points, const storage::RollupConfig* config, RollupOptions options)
      : points_(points), config_(config), options_(std::move(options)) {}

  // Adds the aggregate's tag, unless an earlier check fails.
  [[nodiscard]] std::expected<NamedRollup, Refused> validate(SentRollup& sent) const;

 private:
  [[nodiscard]] std::expected<void, Refused> mark(SentRollup& sent, bool grouped) const;
  [[nodiscard]] std::expected<void, Refused> check_group(const SentRollup& sent) const;
  [[nodiscard]] std::expected<void, Refused> find_table(const SentRollup& sent,
                                                        NamedRollup& into) const;

  const PointRules& points_;
  const storage::RollupConfig* config_;
  const RollupOptions options_;
};

}  // namespace halite::ingest
