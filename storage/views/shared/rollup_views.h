// Views as OpenTSDB's rollups: their totals are cells of the rollup and pre-aggregate tables.
//
//   without group_by   rollups of each series: 1h-sum, 1h-count, ..
//   with group_by      pre-aggregates: series of the kept tags and the aggregate tag.
//   _aggregate=SUM
//                      has sum and count, MIN has min, MAX has max
//
// A bucket whose points are all NaN has no cells. A view owns the cells of its metrics, functions
// and interval: those that others wrote are replaced.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/cells/rollups/replace_rollups.h"
#include "storage/cells/rollups/rollup_config.h"
#include "storage/views/shared/changed_rows.h"
#include "storage/views/shared/view_lease.h"
#include "storage/views/totals_sink.h"

namespace halite::storage {

struct AggregateNames {
  std::string key = "_aggregate";
  std::string raw_value = "RAW";
  bool tag_raw = false;  // rollups of single series have the tag with raw_value
};

// kInvalidArgument: the tables cannot contain a view. The error names the view and what is missing.
[[nodiscard]] Result<void> check_rollup_views(std::span<const ViewRule> rules,
                                              const RollupConfig& config,
                                              const AggregateNames& names);

class RollupViews final : public TotalsSink {
 public:
  // References must outlive it.
  struct Dependencies {
    const RollupTables& rollups;
    UidTable& uids;
    PointRowsTable points;
    AggregateNames names;
    const ViewLease& lease;
    std::uint64_t term;  // of the lease; afterwards nothing is written
    UnreadableRows& unreadable;
  };
  explicit RollupViews(Dependencies dependencies)
      : dependencies_(std::move(dependencies)), widths_(dependencies_.points.rows->widths()) {}

  // The rules must pass check_rollup_views().
  Task<void> replace(const ViewRule& rule, Bytes metric, UnitRange units,
                     const GroupTotals& totals) override;
  Task<std::optional<TimestampMs>> first_time(Bytes metric, TimestampMs since) override;

 private:
  // One function of a view, and the tag pair of its series.
  struct Function {
    std::uint8_t id = 0;
    double BucketTotals::* total = nullptr;  // null: the count
    std::optional<UidPair> pair;
  };
  struct Target {
    const RollupTableConfig* table = nullptr;
    bool pre_aggregated = false;
    std::vector<Function> functions;
    std::optional<std::uint64_t> aggregate_key;  // uid; nullopt: no series has it
    std::vector<std::uint64_t> kept_keys;        // uids of group_by
  };
  Task<Target> target_of(const ViewRule& rule);
  Task<std::optional<std::uint64_t>> find_key(std::string name);
  using Group = GroupTotals::Groups::value_type;
  Result<void> add_group(const Target& target, const GroupTotals& totals, std::int64_t interval_ms,
                         const Group& group, std::vector<RollupTotal>& to) const;
  [[nodiscard]] static bool owns(const Target& target, const SeriesUids& series,
                                 std::uint8_t aggregator);

  const Dependencies dependencies_;
  const UidWidths widths_;
};

}  // namespace halite::storage
