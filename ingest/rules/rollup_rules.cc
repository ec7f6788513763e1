#include "ingest/rules/rollup_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "ingest/rules/refusal.h"

namespace halite::ingest {
namespace {

bool has(const std::optional<std::string>& text) { return text && !text->empty(); }

bool is_derived(std::string_view upper_aggregator) {
  return upper_aggregator == "AVG" || upper_aggregator == "DEV";
}

}  // namespace

// The tag that distinguishes pre-aggregates from each other and, if configured, from rollups.
std::expected<void, Refused> RollupRules::mark(SentRollup& sent, bool grouped) const {
  const TagEntry* const given = sent.tags.find(options_.aggregate_tag);
  if (given == nullptr) {
    if (grouped) {
      sent.tags.put(options_.aggregate_tag, to_upper(*sent.group_aggregator));
    } else if (options_.tag_raw) {
      sent.tags.put(options_.aggregate_tag, options_.raw_value);
    }
    return {};
  }
  const std::string value = given->value.value_or("null");
  if (!sent.group_aggregator || to_upper(value) != to_upper(*sent.group_aggregator)) {
    return illegal(
        fmt::format("Given tag value for {} of {} did not match the group by "
                    "aggregator of {} for {} {}",
                    options_.aggregate_tag, value, sent.group_aggregator.value_or("null"),
                    sent.metric, sent.tags.to_string()));
  }
  sent.tags.put(options_.aggregate_tag, to_upper(value));
  return {};
}

std::expected<void, Refused> RollupRules::check_group(const SentRollup& sent) const {
  const std::string& name = *sent.group_aggregator;
  if (std::ranges::find(options_.aggregators, to_lower(name)) == options_.aggregators.end()) {
    return illegal(fmt::format("Invalid group by aggregator {} with metric {} {}", name,
                               sent.metric, sent.tags.to_string()));
  }
  if (options_.block_derived && is_derived(to_upper(name))) {
    return illegal(fmt::format("Derived group by aggregations are not allowed {} with metric {} {}",
                               name, sent.metric, sent.tags.to_string()));
  }
  return {};
}

std::expected<void, Refused> RollupRules::find_table(const SentRollup& sent,
                                                     NamedRollup& into) const {
  if (has(sent.interval)) {
    into.table = config_->find(*sent.interval);
    if (into.table == nullptr) {
      return refuse(RefusalReason::kNoSuchRollup,
                    fmt::format("No rollups configured for the interval: {}", *sent.interval));
    }
  }
  const std::string aggregator = to_upper(sent.aggregator.value_or(""));
  if (options_.block_derived && is_derived(aggregator)) {
    return illegal(fmt::format("Derived rollup aggregations are not allowed {} with metric {} {}",
                               aggregator, sent.metric, sent.tags.to_string()));
  }
  if (into.table == nullptr && !into.pre_aggregated) {
    return refuse(RefusalReason::kStorage, "Interval cannot be null for a non-group by point");
  }
  return {};
}

std::expected<NamedRollup, Refused> RollupRules::validate(SentRollup& sent) const {
  std::uint8_t aggregator = 0;
  if (has(sent.interval) && config_ != nullptr) {
    const Result<std::uint8_t> id = config_->id_of(sent.aggregator.value_or(""));
    if (!id) return illegal(id.error().message);
    aggregator = *id;
  }
  if (auto wrong = not_finite(sent.metric, sent.timestamp, sent.value)) {
    return std::unexpected(*std::move(wrong));
  }
  if (has(sent.interval) && config_ == nullptr) {
    return illegal("No rollup or aggregations were configured");
  }
  const bool grouped = sent.group_aggregator.has_value();
  if (grouped && sent.group_aggregator->empty()) {
    return illegal(
        fmt::format("Cannot write a group by data point without specifying the "
                    "aggregation function. Metric={} tags={}",
                    sent.metric, sent.tags.to_string()));
  }
  if (is_millis(sent.timestamp)) {
    return std::unexpected(
        bad_timestamp(sent.metric, sent.timestamp, sent.value, sent.tags, sent.wide));
  }
  // With rollups off, OpenTSDB has no name for the tag, and reports that.
  if (config_ == nullptr && grouped) {
    return illegal(
        fmt::format("Invalid tag name with value [{}]: null", to_upper(*sent.group_aggregator)));
  }
  if (config_ != nullptr) {
    if (auto marked = mark(sent, grouped); !marked) return std::unexpected(marked.error());
  }
  if (grouped) {
    if (auto checked = check_group(sent); !checked) return std::unexpected(checked.error());
  }
  auto series = points_.validate_series(sent.metric, sent.tags);
  if (!series) return std::unexpected(std::move(series).error());
  NamedRollup named{.series = *std::move(series),
                    .table = nullptr,
                    .pre_aggregated = grouped,
                    .aggregator = aggregator,
                    .time_s = sent.timestamp,
                    .value = sent.value.bits,
                    .flags = point_flags(sent.timestamp, sent.value.is_float, sent.wide)};
  if (auto found = find_table(sent, named); !found) return std::unexpected(found.error());
  return named;
}

}  // namespace halite::ingest
