#include "ingest/json/rollup_json.h"

#include <utility>

#include "common/json_string.h"
#include "ingest/json/json_object.h"
#include "ingest/rules/java_number.h"
#include "ingest/rules/refusal.h"

namespace halite::ingest {
namespace {

bool missing(const std::optional<std::string>& text) { return !text || text->empty(); }

void append_optional_text(std::string& json, std::string_view name,
                          const std::optional<std::string>& value) {
  if (!value) return;
  json += ',';
  append_json_string(json, name);
  json += ':';
  append_json_string(json, *value);
}

}  // namespace

std::string echo_sent_rollup(const SentRollupPoint& sent) {
  std::string json = echo_sent_point(sent.point);
  json.pop_back();  // the closing brace; a point always has a timestamp
  append_optional_text(json, "interval", sent.interval);
  append_optional_text(json, "aggregator", sent.aggregator);
  append_optional_text(json, "groupByAggregator", sent.group_aggregator);
  json += '}';
  return json;
}

std::expected<NamedRollup, Refused> validate_sent_rollup(SentRollupPoint& sent,
                                                         const RollupRules& rules) {
  SentPoint& point = sent.point;
  if (missing(point.metric)) return illegal("Metric name was empty");
  if (point.timestamp <= 0) return illegal("Invalid timestamp");
  if (missing(point.value)) return illegal("Empty value");
  if (!point.tags || point.tags->empty()) return illegal("Missing tags");
  if (missing(sent.group_aggregator)) {
    if (missing(sent.interval)) return illegal("Missing interval");
    if (missing(sent.aggregator)) return illegal("Missing aggregator");
  }
  const auto value = parse_value(*point.value);
  if (!value) {
    return refuse(RefusalReason::kInvalidValue, value.error());
  }
  SentRollup rollup{.metric = *point.metric,
                    .timestamp = point.timestamp,
                    .value = *value,
                    .wide = true,
                    .tags = *point.tags,
                    .interval = sent.interval,
                    .aggregator = sent.aggregator,
                    .group_aggregator = sent.group_aggregator};
  auto named = rules.validate(rollup);
  point.tags = std::move(rollup.tags);
  return named;
}

Result<SentRollupPoint> read_sent_rollup(std::string_view element, std::size_t json_depth_max) {
  SentRollupPoint sent;
  TRY_VOID(each_field(element, [&](std::string_view key, auto& value) -> Result<void> {
    std::optional<std::string>* const text = key == "interval"            ? &sent.interval
                                             : key == "aggregator"        ? &sent.aggregator
                                             : key == "groupByAggregator" ? &sent.group_aggregator
                                                                          : nullptr;
    if (text == nullptr) return read_point_field(key, value, sent.point, json_depth_max);
    TRY(*text, scalar_text(token_of(value)));
    return {};
  }));
  return sent;
}

}  // namespace halite::ingest
