// `halite hbase plan`: sizes an HBase cluster for a load, from measured costs of a point. Needs no
// HBase. docs/scaling.md derives the formula.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/hbase_costs.h"
#include "common/result.h"

namespace halite::app {

struct HBasePlanFlags {
  double points_per_s = 0;
  double series = 0;      // that get points
  double days = 0;        // that points are kept
  double tags = 5;        // of a series
  double metrics = 0;     // 0 = 1000, or as many as there are series
  double tag_values = 0;  // of the tag key with the most; 0 = series / metrics
  std::string form = "cells";
  // A machine: for region servers, and for daemons.
  std::int64_t replication = 3;
  std::int64_t cores = 16;
  std::string disk = "16 TB";
  std::string memory = "64 GiB";
  bool json = false;
};

struct PlanFigure {
  std::string id;    // "region_servers", in JSON
  std::string name;  // for people
  double value = 0;
  std::string unit;    // "servers", "bytes", ...
  std::string source;  // where it comes from: the formula, a measurement, a default of HBase
};

struct HBasePlan {
  std::vector<PlanFigure> figures;
  std::vector<std::string> warnings;  // what the load does not fit into
};

// kInvalidArgument, with the name of the option, for values outside its range.
[[nodiscard]] Result<HBasePlan> plan_hbase(const HBasePlanFlags& flags);

[[nodiscard]] std::string plan_table_text(const HBasePlan& plan);
[[nodiscard]] std::string plan_json(const HBasePlan& plan);

// The plan as text, or as JSON.
[[nodiscard]] Result<std::string> show_hbase_plan(const HBasePlanFlags& flags);

}  // namespace halite::app
