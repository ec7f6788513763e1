// The sizes of clusters for some loads, and what is no load.
#include "app/tools/hbase_plan.h"

#include <cmath>
#include <sstream>
#include <string>
#include <string_view>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::app {
namespace {

using testing::HasSubstr;

HBasePlanFlags load(double points_per_s, double series, double days) {
  HBasePlanFlags flags;
  flags.points_per_s = points_per_s;
  flags.series = series;
  flags.days = days;
  return flags;
}

double value(const HBasePlan& plan, std::string_view id) {
  for (const PlanFigure& figure : plan.figures) {
    if (figure.id == id) return figure.value;
  }
  ADD_FAILURE() << "no figure " << id;
  return std::nan("");
}

std::string warnings(const HBasePlan& plan) {
  std::string all;
  for (const std::string& one : plan.warnings) all += one + "\n";
  return all;
}

// docs/scaling.md shows some of these.
constexpr std::string_view kLoads = R"(
form      points/s  series  days  tags  | servers  salts  regions  daemons  uid
cells     1e5       1e5     90    5     | 3        12     396      2        3
cells     1e6       1e7     365   5     | 35       140    7000     2        3
cells     1e7       1e9     365   5     | 321      1024   64200    67       3
ring      1e7       1e9     365   5     | 326      256    16300    67       3
backfill  1e6       1e7     365   2     | 12       48     2400     2        3
cells     1         1       1     1     | 3        12     12       2        3
cells     1e6       2e10    30    8     | 9        36     1385     1606     4
)";

TEST(HBasePlan, SizesOfSomeLoads) {
  std::istringstream lines{std::string(kLoads)};
  std::string line;
  int loads = 0;
  while (std::getline(lines, line)) {
    if (line.empty() || line.starts_with("form")) continue;
    std::istringstream words(line);
    HBasePlanFlags flags;
    std::string bar;
    double servers = 0, salts = 0, regions = 0, daemons = 0, uid = 0;
    words >> flags.form >> flags.points_per_s >> flags.series >> flags.days >> flags.tags >> bar >>
        servers >> salts >> regions >> daemons >> uid;
    ASSERT_TRUE(words && bar == "|") << line;
    const Result<HBasePlan> plan = plan_hbase(flags);
    ASSERT_TRUE(plan) << line << plan.error().message;
    EXPECT_EQ(value(*plan, "region_servers"), servers) << line;
    EXPECT_EQ(value(*plan, "salts"), salts) << line;
    EXPECT_EQ(value(*plan, "regions"), regions) << line;
    EXPECT_EQ(value(*plan, "daemons"), daemons) << line;
    EXPECT_EQ(value(*plan, "uid_width_tag_value"), uid) << line;
    ++loads;
  }
  EXPECT_GE(loads, 6);
}

TEST(HBasePlan, FollowsTheFormula) {
  HBasePlanFlags flags = load(1e6, 1e7, 100);
  flags.replication = 2;
  flags.disk = "10 TB";
  flags.cores = 8;
  const HBasePlan plan = plan_hbase(flags).value();
  const double stored = value(plan, "stored_bytes_per_point") * 1e6 * 86'400 * 100;
  EXPECT_DOUBLE_EQ(value(plan, "points_per_row"), 360);
  EXPECT_DOUBLE_EQ(value(plan, "stored_bytes"), stored);
  EXPECT_DOUBLE_EQ(value(plan, "replicated_bytes"), 2 * stored);
  EXPECT_EQ(value(plan, "servers_by_disk"), std::ceil(2 * stored / 0.7 / 10e12));
  EXPECT_EQ(value(plan, "servers_by_cpu"),
            std::ceil(1e6 / value(plan, "server_points_per_core_s") / (8 * 0.5)));
  EXPECT_EQ(value(plan, "daemons_by_cpu"),
            std::ceil(1e6 / value(plan, "daemon_points_per_core_s") / (8 * 0.5)));
  EXPECT_GE(value(plan, "region_servers"), value(plan, "servers_by_cpu"));
  EXPECT_GE(value(plan, "region_servers"), value(plan, "servers_by_disk"));
  for (const PlanFigure& figure : plan.figures) {
    EXPECT_FALSE(figure.source.empty()) << figure.id;
    EXPECT_GE(figure.value, 0) << figure.id;
  }
}

// By a simulation of HBase's ExploringCompactionPolicy in another language.
TEST(HBasePlan, RewritesAreThoseOfHBase) {
  constexpr double kMiB = 1 << 20;
  const auto rewrites = [](double file_mib, double region_gib, double always_mib) {
    const double times =
        rewrites_of_byte(file_mib * kMiB, region_gib * 1024 * kMiB, always_mib * kMiB);
    return std::round(times * 10) / 10;
  };
  EXPECT_EQ(rewrites(1, 7.5, 128), 32.2);
  EXPECT_EQ(rewrites(4, 7.5, 128), 10.5);
  EXPECT_EQ(rewrites(16, 37.5, 128), 6.5);
  EXPECT_EQ(rewrites(128, 1, 128), 1.1);
  EXPECT_EQ(rewrites(1, 7.5, 2), 7.0);
  EXPECT_EQ(rewrites(16, 1, 32), 2.9);
  EXPECT_EQ(rewrites(1, 0, 128), 0);  // one file
}

TEST(HBasePlan, MoreLoadNeverNeedsLess) {
  for (const std::string_view form : kWriteForms) {
    double servers = 0;
    double daemons = 0;
    for (double points = 1; points < 1e8; points *= 7) {
      HBasePlanFlags flags = load(points, points * 100, 365);
      flags.form = form;
      flags.metrics = 1;
      const HBasePlan plan = plan_hbase(flags).value();
      EXPECT_GE(value(plan, "region_servers"), servers) << form << " " << points;
      EXPECT_GE(value(plan, "daemons"), daemons) << form << " " << points;
      servers = value(plan, "region_servers");
      daemons = value(plan, "daemons");
    }
  }
}

TEST(HBasePlan, SaysWhenNamesDoNotFit) {
  HBasePlanFlags flags = load(1e5, 16'777'215, 1);
  flags.metrics = 1;
  EXPECT_EQ(value(plan_hbase(flags).value(), "uid_width_tag_value"), 3);
  flags.series = 16'777'216;
  const HBasePlan one_more = plan_hbase(flags).value();
  EXPECT_EQ(value(one_more, "uid_width_tag_value"), 4);
  EXPECT_THAT(warnings(one_more), HasSubstr("storage.uid_width_tag_value = 4"));

  flags.metrics = 16'777'216;
  const HBasePlan metrics = plan_hbase(flags).value();
  EXPECT_EQ(value(metrics, "uid_width_metric"), 4);
  EXPECT_THAT(warnings(metrics), HasSubstr("storage.uid_width_metric = 4"));
  // Each series might have a value of its own.
  EXPECT_THAT(warnings(metrics), HasSubstr("of its own"));
}

TEST(HBasePlan, ShortOfMemoryIsSaid) {
  HBasePlanFlags flags = load(1e6, 1e8, 365);
  flags.memory = "4 GiB";
  flags.disk = "200 TB";
  EXPECT_THAT(warnings(plan_hbase(flags).value()), HasSubstr("small files"));
}

TEST(HBasePlan, RefusesWhatIsNoLoad) {
  const auto refusal = [](auto change) {
    HBasePlanFlags flags = load(1000, 1000, 30);
    change(flags);
    const Result<HBasePlan> plan = plan_hbase(flags);
    if (plan) return std::string("a plan");
    EXPECT_EQ(plan.error().code, Errc::kInvalidArgument);
    return plan.error().message;
  };
  EXPECT_EQ(refusal([](auto&) {}), "a plan");
  EXPECT_THAT(refusal([](auto& f) { f.points_per_s = 0; }),
              HasSubstr("--points-per-s must be from 1 to 1e+15, not 0"));
  EXPECT_THAT(refusal([](auto& f) { f.points_per_s = std::nan(""); }), HasSubstr("not nan"));
  EXPECT_THAT(refusal([](auto& f) { f.series = -1; }), HasSubstr("--series"));
  EXPECT_THAT(refusal([](auto& f) { f.days = 36'501; }), HasSubstr("--days"));
  EXPECT_THAT(refusal([](auto& f) { f.tags = 33; }), HasSubstr("--tags must be from 1 to 32"));
  EXPECT_EQ(refusal([](auto& f) { f.series = 1; }), "a plan");  // with one metric
  EXPECT_THAT(refusal([](auto& f) { f.metrics = 1001; }), HasSubstr("at least one series"));
  EXPECT_THAT(refusal([](auto& f) { f.tag_values = 1001; }), HasSubstr("--tag-values"));
  EXPECT_THAT(refusal([](auto& f) { f.replication = 0; }), HasSubstr("--replication"));
  EXPECT_THAT(refusal([](auto& f) { f.cores = 0; }), HasSubstr("--cores"));
  EXPECT_THAT(refusal([](auto& f) { f.disk = "many"; }), HasSubstr("--disk must be a size"));
  EXPECT_THAT(refusal([](auto& f) { f.memory = "1 MiB"; }),
              HasSubstr("--memory must be at least 1 GiB, not \"1 MiB\""));
  EXPECT_THAT(refusal([](auto& f) { f.form = "cell"; }),
              HasSubstr("--form must be cells, ring, appends or backfill, not \"cell\""));
}

TEST(HBasePlan, TableAndJsonSayTheSame) {
  HBasePlanFlags flags = load(1e7, 1e9, 365);
  const HBasePlan plan = plan_hbase(flags).value();
  const std::string text = show_hbase_plan(flags).value();
  flags.json = true;
  const boost::json::value json = boost::json::parse(show_hbase_plan(flags).value());
  for (const PlanFigure& figure : plan.figures) {
    EXPECT_THAT(text, HasSubstr(figure.name));
    EXPECT_THAT(text, HasSubstr(figure.source));
    const boost::json::value& one = json.at("figures").at(figure.id);
    EXPECT_DOUBLE_EQ(one.at("value").to_number<double>(), figure.value);
    EXPECT_EQ(one.at("unit").as_string(), figure.unit);
    EXPECT_EQ(one.at("source").as_string(), figure.source);
  }
  EXPECT_EQ(json.at("warnings").as_array().size(), plan.warnings.size());
  for (const std::string& warning : plan.warnings) EXPECT_THAT(text, HasSubstr(warning));
}

}  // namespace
}  // namespace halite::app
