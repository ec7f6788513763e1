#include "storage/cells/rollups/rollup_config.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/check.h"
#include "common/json/json_value.h"

namespace halite::storage {
namespace {

namespace json = boost::json;

constexpr std::int64_t kAggregatorIdMax = 127;
constexpr std::int64_t kCodecIdMax = 255;
constexpr std::string_view kSimpleDecoder = "net.opentsdb.core.SimpleHistogramDecoder";

std::unexpected<Error> refuse(std::string text) {
  return fail(Errc::kInvalidArgument, std::move(text));
}

Result<json::object> parse_object(std::string_view text, std::string_view what) {
  json::error_code error;
  json::value value = parse_json_value(text, error);
  if (error) return refuse(fmt::format("{} is not JSON: {}", what, error.message()));
  if (!value.is_object()) return refuse(fmt::format("{} is not a JSON object", what));
  return std::move(value.get_object());
}

struct Duration {
  std::int64_t number = 0;
  std::string unit;
};

Result<Duration> parse_duration(std::string_view text) {
  Duration duration;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, duration.number);
  duration.unit = to_lower(std::string_view(stop, static_cast<std::size_t>(end - stop)));
  if (error != std::errc() || duration.number <= 0 || duration.number > INT32_MAX) {
    return refuse(fmt::format("Invalid duration (number): {}", text));
  }
  return duration;
}

Result<std::int64_t> seconds_of(std::string_view text) {
  TRY(const Duration duration, parse_duration(text));
  static const std::map<std::string, std::int64_t> kUnits = {
      {"s", 1},       {"m", 60},          {"h", 3600},        {"d", 86'400},
      {"w", 604'800}, {"n", 30 * 86'400}, {"y", 365 * 86'400}};
  const auto unit = kUnits.find(duration.unit);
  if (unit == kUnits.end()) return refuse(fmt::format("Invalid duration (suffix): {}", text));
  return duration.number * unit->second;
}

Result<void> read_row_span(std::string_view text, RollupInterval& cells) {
  TRY(const Duration span, parse_duration(text));
  static const std::map<std::string, RollupSpan> kSpans = {{"h", RollupSpan::kHours},
                                                           {"d", RollupSpan::kDay},
                                                           {"n", RollupSpan::kMonth},
                                                           {"y", RollupSpan::kYear}};
  const auto found = kSpans.find(span.unit);
  if (found == kSpans.end()) {
    return refuse(fmt::format("rowSpan must be a number of h, or 1d, 1n or 1y, not \"{}\"", text));
  }
  cells.span = found->second;
  if (cells.span == RollupSpan::kHours) {
    cells.hours = static_cast<std::uint32_t>(span.number);
  } else if (span.number != 1) {
    return refuse("Multipliers are only usable with the 'h' unit");
  }
  return {};
}

std::string text_of(const json::object& object, const char* name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

Result<RollupTableConfig> read_table(const json::value& value) {
  if (!value.is_object()) return refuse("a rollup interval is not a JSON object");
  const json::object& object = value.get_object();
  RollupTableConfig table;
  table.interval = text_of(object, "interval");
  table.table = text_of(object, "table");
  table.pre_aggregate = text_of(object, "preAggregationTable");
  if (table.table.empty()) return refuse("The rollup table cannot be null or empty");
  if (table.pre_aggregate.empty()) {
    return refuse("The pre-aggregate rollup table cannot be null or empty");
  }
  if (const json::value* const is_default = object.if_contains("defaultInterval")) {
    table.is_default = is_default->is_bool() && is_default->get_bool();
  }
  TRY(table.cells.seconds, seconds_of(table.interval));
  TRY_VOID(read_row_span(text_of(object, "rowSpan"), table.cells));
  TRY_VOID(check_rollup(table.cells));
  return table;
}

Result<void> read_ids(const json::object& ids, std::span<const std::string> aggregators,
                      RollupConfig& config) {
  std::set<std::int64_t> used;
  for (const auto& entry : ids) {
    const std::string name = to_lower({entry.key().data(), entry.key().size()});
    const std::int64_t id = entry.value().is_int64() ? entry.value().get_int64() : -1;
    if (id < 0 || id > kAggregatorIdMax) {
      return refuse(fmt::format("ID for aggregator must be between 0 and 127: {}", name));
    }
    if (!used.insert(id).second) {
      return refuse(fmt::format("Multiple mappings for the ID '{}' are not allowed.", id));
    }
    if (std::ranges::find(aggregators, name) == aggregators.end()) {
      return refuse(fmt::format("No such aggregator found for {}", name));
    }
    config.ids[name] = static_cast<std::uint8_t>(id);
  }
  return {};
}

}  // namespace

const RollupTableConfig* RollupConfig::find(std::string_view interval) const {
  const auto found = std::ranges::find(tables, interval, &RollupTableConfig::interval);
  return found == tables.end() ? nullptr : &*found;
}

const RollupTableConfig& RollupConfig::default_table() const {
  const auto found = std::ranges::find(tables, true, &RollupTableConfig::is_default);
  HALITE_CHECK(found != tables.end(), "rollups without a default interval");
  return *found;
}

Result<std::uint8_t> RollupConfig::id_of(std::string_view aggregator) const {
  if (aggregator.empty()) return refuse("Aggregator cannot be null or empty.");
  std::string name = to_lower(aggregator);
  if (name == "zimsum") name = "sum";
  if (name == "mimmin") name = "min";
  if (name == "mimmax") name = "max";
  const auto id = ids.find(name);
  if (id != ids.end()) return id->second;
  return refuse(fmt::format("No ID found mapping to aggregator: {}", aggregator));
}

Result<RollupConfig> parse_rollup_config(std::string_view text,
                                         std::span<const std::string> aggregators) {
  TRY(const json::object object, parse_object(text, "the rollups' configuration"));
  const json::value* const intervals = object.if_contains("intervals");
  if (intervals == nullptr || !intervals->is_array() || intervals->get_array().empty()) {
    return refuse("Rollup config given but no intervals were found.");
  }
  const json::value* const ids = object.if_contains("aggregationIds");
  if (ids == nullptr || !ids->is_object() || ids->get_object().empty()) {
    return refuse("Rollup config given but no aggegation ID mappings found.");
  }
  RollupConfig config;
  for (const json::value& interval : intervals->get_array()) {
    TRY(RollupTableConfig table, read_table(interval));
    if (config.find(table.interval) != nullptr) {
      return refuse(
          fmt::format("Only one interval of each type can be configured: {}", table.interval));
    }
    config.tables.push_back(std::move(table));
  }
  const auto defaults = std::ranges::count(config.tables, true, &RollupTableConfig::is_default);
  if (defaults > 1) return refuse("Multiple default intervals configured. Only one is allowed");
  if (defaults == 0) return refuse("None of the rollup intervals were marked as the \"default\".");
  TRY_VOID(read_ids(ids->get_object(), aggregators, config));
  return config;
}

Result<HistogramConfig> parse_histogram_config(std::string_view text) {
  TRY(const json::object object, parse_object(text, "the histograms' configuration"));
  HistogramConfig config;
  for (const auto& entry : object) {
    const std::string_view name(entry.key().data(), entry.key().size());
    const std::int64_t id = entry.value().is_int64() ? entry.value().get_int64() : -1;
    if (id < 0 || id > kCodecIdMax) {
      return refuse(fmt::format("ID for codec '{}' must be from 0 to 255.", name));
    }
    if (name != kSimpleDecoder) {
      return refuse(fmt::format("Unable to find a decoder named '{}'", name));
    }
    config.simple_id = static_cast<std::uint8_t>(id);
  }
  return config;
}

}  // namespace halite::storage
