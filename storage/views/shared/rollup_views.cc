#include "storage/views/shared/rollup_views.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halite::storage {
namespace {

constexpr std::int64_t kMsPerSecond = 1000;
constexpr std::size_t kCellsTogether = 200'000;      // in memory
constexpr double kExactMax = 9'007'199'254'740'992;  // 2^53

std::unexpected<Error> refuse(const ViewRule& rule, std::string_view why) {
  return fail(Errc::kInvalidArgument, fmt::format("view \"{}\": {}", rule.name, why));
}

std::vector<std::string> functions_of(const ViewRule& rule) {
  std::vector<std::string> names = {"count"};
  if (rule.functions.sum) names.emplace_back("sum");
  if (rule.functions.min) names.emplace_back("min");
  if (rule.functions.max) names.emplace_back("max");
  return names;
}

// The tables of an interval: not the default one, whose queries read points.
const RollupTableConfig* table_for(const ViewRule& rule, const RollupConfig& config) {
  const auto found = std::ranges::find_if(config.tables, [&rule](const RollupTableConfig& table) {
    return !table.is_default && table.cells.seconds * kMsPerSecond == rule.interval_ms;
  });
  return found == config.tables.end() ? nullptr : &*found;
}

// Whether a metric may be covered by both.
bool overlap(const ViewRule& a, const ViewRule& b) {
  const auto prefix = [](const ViewRule& rule) {
    const std::string_view text = rule.metrics;
    return text.ends_with('*') ? text.substr(0, text.size() - 1) : text;
  };
  const bool a_is_prefix = a.metrics.ends_with('*');
  const bool b_is_prefix = b.metrics.ends_with('*');
  if (a_is_prefix && prefix(b).starts_with(prefix(a))) return true;
  if (b_is_prefix && prefix(a).starts_with(prefix(b))) return true;
  return a.metrics == b.metrics;
}

Result<void> check_rule(const ViewRule& rule, const RollupConfig& config,
                        const AggregateNames& names) {
  if (table_for(rule, config) == nullptr) {
    std::vector<std::string> intervals;
    for (const RollupTableConfig& table : config.tables) {
      if (!table.is_default) intervals.push_back(table.interval);
    }
    return refuse(
        rule,
        fmt::format("rollups.config has no table for an interval of {} s; it has {}",
                    rule.interval_ms / kMsPerSecond,
                    intervals.empty() ? "none" : fmt::format("{}", fmt::join(intervals, ", "))));
  }
  for (const std::string& function : functions_of(rule)) {
    if (config.ids.contains(function)) continue;
    return refuse(rule, fmt::format("aggregationIds in rollups.config has no id for {}{}", function,
                                    function == "count" ? ", which every view keeps" : ""));
  }
  if (rule.functions.sketch) {
    return refuse(rule,
                  fmt::format("percentiles ({}) are not available with --store hbase: OpenTSDB's "
                              "rollups have none",
                              fmt::join(rule.percentiles, ", ")));
  }
  if (rule.keep_ms != 0) {
    return refuse(
        rule, "keep is not available with --store hbase: set a TTL for the rollup table in HBase");
  }
  if (rule.group_by && std::ranges::find(*rule.group_by, names.key) != rule.group_by->end()) {
    return refuse(
        rule,
        fmt::format("group_by contains {}, which is the tag of rollups.aggregate_tag", names.key));
  }
  return {};
}

// Whole numbers become integers, as senders of rollups would write them.
void set_value(double number, RollupTotal& total) {
  const bool whole = std::abs(number) <= kExactMax && std::trunc(number) == number &&
                     !(number == 0 && std::signbit(number));
  total.value = whole ? integer_bits(static_cast<std::int64_t>(number)) : double_bits(number);
  total.flags = whole ? 0 : kFloat;
}

}  // namespace

Result<void> check_rollup_views(std::span<const ViewRule> rules, const RollupConfig& config,
                                const AggregateNames& names) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    TRY_VOID(check_rule(rules[i], config, names));
    for (const ViewRule& other : rules.first(i)) {
      const bool same_table = other.interval_ms == rules[i].interval_ms &&
                              other.group_by.has_value() == rules[i].group_by.has_value();
      if (!same_table || !overlap(other, rules[i])) continue;
      return refuse(
          rules[i],
          fmt::format("its metrics and interval are also those of view \"{}\": with --store "
                      "hbase both would be in one table, and queries would add them up",
                      other.name));
    }
  }
  return {};
}

Task<std::optional<std::uint64_t>> RollupViews::find_key(std::string name) {
  auto finding = dependencies_.uids.find(NameKind::kTagKey, std::move(name));
  const Result<UidTable::NameMapping> known = co_await std::move(finding);
  if (known) co_return known->uid;
  if (known.error().code == Errc::kNotFound) co_return std::nullopt;
  co_return std::unexpected(known.error());
}

Task<RollupViews::Target> RollupViews::target_of(const ViewRule& rule) {
  const RollupConfig& config = dependencies_.rollups.config();
  const AggregateNames& names = dependencies_.names;
  Target target;
  target.table = table_for(rule, config);
  target.pre_aggregated = rule.group_by.has_value();
  if (target.table == nullptr)
    co_return refuse(rule, "rollups.config has no table for its interval");
  const bool tagged = target.pre_aggregated || names.tag_raw;
  if (tagged) {
    auto naming = dependencies_.uids.find_or_assign(NameKind::kTagKey, names.key);
    CO_TRY(const UidTable::NameMapping key, co_await std::move(naming));
    target.aggregate_key = key.uid;
  } else {
    auto finding = find_key(names.key);
    CO_TRY(target.aggregate_key, co_await std::move(finding));
  }
  for (const std::string& function : functions_of(rule)) {
    CO_TRY(const std::uint8_t id, config.id_of(function));
    Function& added = target.functions.emplace_back();
    added.id = id;
    if (function == "sum") added.total = &BucketTotals::sum;
    if (function == "min") added.total = &BucketTotals::min;
    if (function == "max") added.total = &BucketTotals::max;
    if (!tagged) continue;
    std::string value = names.raw_value;
    if (target.pre_aggregated)
      value = function == "min" ? "MIN" : function == "max" ? "MAX" : "SUM";
    auto naming = dependencies_.uids.find_or_assign(NameKind::kTagValue, std::move(value));
    CO_TRY(const UidTable::NameMapping named, co_await std::move(naming));
    added.pair = UidPair{.key = *target.aggregate_key, .value = named.uid};
  }
  for (const std::string& key : rule.group_by.value_or(std::vector<std::string>())) {
    auto finding = find_key(key);
    CO_TRY(const std::optional<std::uint64_t> uid, co_await std::move(finding));
    if (uid) target.kept_keys.push_back(*uid);
  }
  co_return target;
}

Result<void> RollupViews::add_group(const Target& target, const GroupTotals& totals,
                                    std::int64_t interval_ms, const Group& group,
                                    std::vector<RollupTotal>& to) const {
  TRY(const SeriesUids series, parse_tsuid(widths_, group.first));
  for (const Function& function : target.functions) {
    std::vector<UidPair> pairs = series.pairs;
    if (function.pair) {
      std::erase_if(pairs, [&](const UidPair& one) { return one.key == function.pair->key; });
      pairs.push_back(*function.pair);
    }
    const Bytes tsuid = make_tsuid(widths_, series.metric, pairs);
    for (std::size_t i = 0; i < group.second.size(); ++i) {
      const BucketTotals& bucket = group.second[i];
      const TimestampMs time = totals.range().begin + static_cast<std::int64_t>(i) * interval_ms;
      if (bucket.count == 0) continue;
      RollupTotal& total = to.emplace_back();
      total.tsuid = tsuid;
      total.aggregator = function.id;
      total.time_s = time / kMsPerSecond;
      if (function.total == nullptr) {
        total.value = integer_bits(static_cast<std::int64_t>(bucket.count));
      } else {
        set_value(bucket.*function.total, total);
      }
    }
  }
  return {};
}

// Whether a view's cells of an aggregator belong to this series.
bool RollupViews::owns(const Target& target, const SeriesUids& series, std::uint8_t aggregator) {
  const auto function = std::ranges::find(target.functions, aggregator, &Function::id);
  if (function == target.functions.end()) return false;
  bool marked = false;
  for (const UidPair& pair : series.pairs) {
    if (pair.key == target.aggregate_key) {
      if (pair != function->pair) return false;
      marked = true;
    } else if (target.pre_aggregated &&
               std::ranges::find(target.kept_keys, pair.key) == target.kept_keys.end()) {
      return false;
    }
  }
  return marked == function->pair.has_value();
}

// In parts by the tsuid of the group, so that few cells are in memory. Together the parts contain
// every tsuid, also those without totals.
Task<void> RollupViews::replace(const ViewRule& rule, Bytes metric, UnitRange units,
                                const GroupTotals& totals) {
  auto targeting = target_of(rule);
  CO_TRY(const Target target, co_await std::move(targeting));
  const GroupTotals::Groups& groups = totals.groups();
  auto next = groups.begin();
  Bytes begin;
  do {
    RollupReplacement part{
        .table = target.table,
        .pre_aggregated = target.pre_aggregated,
        .metric = metric,
        .times = {.begin = units.begin * rule.unit_ms(), .end = units.end * rule.unit_ms()},
        .replaces = {},
        .totals = {},
        .may_write = [this] { return dependencies_.lease.may_write(dependencies_.term); },
        .unreadable = [this](BytesView key,
                             const Error& why) { dependencies_.unreadable.skip(key, why); }};
    while (next != groups.end() && part.totals.size() < kCellsTogether) {
      CO_TRY_VOID(add_group(target, totals, rule.interval_ms, *next, part.totals));
      ++next;
    }
    const std::optional<Bytes> end =
        next == groups.end() ? std::nullopt : std::optional(next->first);
    part.replaces = [this, &target, begin, end](const SeriesUids& series, std::uint8_t aggregator) {
      if (!owns(target, series, aggregator)) return false;
      std::vector<UidPair> pairs = series.pairs;
      std::erase_if(pairs,
                    [&target](const UidPair& one) { return one.key == target.aggregate_key; });
      const Bytes group = make_tsuid(widths_, series.metric, pairs);
      return group >= begin && (!end || group < *end);
    };
    auto replacing = replace_rollups(dependencies_.rollups, std::move(part));
    CO_TRY_VOID(co_await std::move(replacing));
    begin = end.value_or(Bytes());
  } while (next != groups.end());
  co_return Result<void>{};
}

Task<std::optional<TimestampMs>> RollupViews::first_time(Bytes metric, TimestampMs since) {
  return first_row_time(dependencies_.points, std::move(metric), since, dependencies_.unreadable);
}

}  // namespace halite::storage
