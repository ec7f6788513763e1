// An element of a body of /api/rollup: a point with interval, aggregator and groupByAggregator.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/json/sent_point.h"
#include "ingest/rules/rollup_rules.h"

namespace halite::ingest {

struct SentRollupPoint {
  SentPoint point;
  std::optional<std::string> interval;
  std::optional<std::string> aggregator;
  std::optional<std::string> group_aggregator;
};

// Like echo_sent_point().
[[nodiscard]] std::string echo_sent_rollup(const SentRollupPoint& sent);

// Leaves in `sent` what echo_sent_rollup() shows of a refused point, including the aggregate's tag,
// which OpenTSDB adds before most of its checks.
[[nodiscard]] std::expected<NamedRollup, Refused> validate_sent_rollup(SentRollupPoint& sent,
                                                                       const RollupRules& rules);

// Parses an object. An error fails the whole body.
[[nodiscard]] Result<SentRollupPoint> read_sent_rollup(std::string_view element,
                                                       std::size_t json_depth_max);

}  // namespace halite::ingest
