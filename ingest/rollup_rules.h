// Which rollups and pre-aggregates are legal, in OpenTSDB's order of checks and in its words.
//
// A rollup is a point of a coarser interval, made by an aggregator over time ("1h-sum"); a
// pre-aggregate was made by an aggregator over series as well, or alone. Its aggregator stands in a
// tag, "_aggregate=SUM".
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "ingest/point_rules.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::ingest {

struct RollupOptions {
  std::string aggregate_tag = "_aggregate";
  std::string raw_value = "RAW";         // of that tag, for rollups of series themselves
  bool tag_raw = false;                  // they get that tag
  bool block_derived = true;             // averages and deviations are refused
  std::vector<std::string> aggregators;  // the names there are
};

// A point as it was sent, its value and time read well.
struct SentRollup {
  std::string metric;
  std::int64_t timestamp = 0;  // positive
  Number value;
  bool wide = false;  // see PointRules::judge
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
  // Without a config rollups are off. All outlive the rules.
  RollupRules(const PointRules& points, const storage::RollupConfig* config, RollupOptions options)
      : points_(points), config_(config), options_(std::move(options)) {}

  // Puts the aggregate's tag among the tags, unless a check before that fails.
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
