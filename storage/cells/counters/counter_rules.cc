#include "storage/cells/counters/counter_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "common/config/config_value.h"
#include "common/json/rule_fields.h"
#include "common/units.h"

namespace halite::storage {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::string_view kAllTime = "all";
constexpr std::size_t kBucketsMax = 16;  // of one rule

std::unexpected<Error> bad_rule(std::size_t number, std::string_view why) {
  return fail(Errc::kInvalidArgument, fmt::format("counters: rule {}: {}", number, why));
}

// Rows as long as possible, with at least twelve buckets, as in rollup tables.
RollupInterval rows_of(std::int64_t length_ms) {
  const std::int64_t seconds = length_ms == 0 ? kDayMs / 1000 : length_ms / 1000;
  for (const RollupSpan span : {RollupSpan::kHours, RollupSpan::kDay, RollupSpan::kMonth}) {
    const RollupInterval rows{.seconds = seconds, .span = span};
    if (check_rollup(rows)) return rows;
  }
  return {.seconds = seconds, .span = RollupSpan::kYear};
}

Result<CounterBucket> parse_bucket(std::string_view text, std::string_view keep) {
  CounterBucket bucket{.name = std::string(text), .rows = {}};
  if (text != kAllTime) {
    const Result<std::int64_t> length = parse_duration_ms(text);
    if (!length || *length < 1000 || *length > kDayMs || kDayMs % *length != 0 ||
        *length % 1000 != 0) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("the bucket \"{}\" must be whole seconds that divide a day, such as "
                              "1m, 1h or 1d, or all",
                              text));
    }
    bucket.length_ms = *length;
  }
  bucket.rows = rows_of(bucket.length_ms);
  const Result<std::int64_t> kept = parse_duration_ms(keep);
  if (!kept || *kept < 0) {
    return fail(Errc::kInvalidArgument,
                fmt::format("keep \"{}\" must be a duration such as 14d, or 0 for ever", keep));
  }
  bucket.keep_ms = *kept;
  if (bucket.length_ms == 0 && bucket.keep_ms != 0) {
    return fail(Errc::kInvalidArgument, "the bucket all is kept for ever: its keep must be 0");
  }
  return bucket;
}

Result<CounterRule> parse_rule(const json::value& value) {
  constexpr std::string_view kKeys[] = {"metrics", "buckets", "keep"};
  TRY(const json::object* const object, rule_object(value, kKeys));
  CounterRule rule;
  TRY(rule.metrics, rule_metrics(*object));
  TRY(const std::vector<std::string> buckets, rule_texts(*object, "buckets"));
  TRY(const std::vector<std::string> keep, rule_texts(*object, "keep"));
  if (buckets.empty() || buckets.size() > kBucketsMax || buckets.size() != keep.size()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("needs 1 to {} buckets and one keep for each; has {} and {}",
                            kBucketsMax, buckets.size(), keep.size()));
  }
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    TRY(CounterBucket bucket, parse_bucket(buckets[i], keep[i]));
    rule.buckets.push_back(std::move(bucket));
  }
  const auto length = [](const CounterBucket& bucket) {
    return bucket.length_ms == 0 ? INT64_MAX : bucket.length_ms;
  };
  std::ranges::sort(rule.buckets, {}, length);
  if (std::ranges::adjacent_find(rule.buckets, {}, length) != rule.buckets.end()) {
    return fail(Errc::kInvalidArgument, "names a bucket twice");
  }
  return rule;
}

}  // namespace

CounterRules::CounterRules(std::int64_t keep_ms) {
  without_rule_.buckets.push_back(
      {.name = "1m", .length_ms = kMinuteMs, .keep_ms = keep_ms, .rows = rows_of(kMinuteMs)});
}

Result<CounterRules> CounterRules::parse(std::string_view text, std::int64_t keep_ms) {
  CounterRules parsed(keep_ms);
  TRY(const json::array elements, parse_rules("counters", text));
  for (const json::value& element : elements) {
    const std::size_t number = parsed.rules_.size() + 1;
    Result<CounterRule> rule = parse_rule(element);
    if (!rule) return bad_rule(number, rule.error().message);
    for (const CounterRule& other : parsed.rules_) {
      if (other.metrics == rule->metrics) {
        return bad_rule(number, fmt::format("{} has a rule already", rule->metrics));
      }
    }
    parsed.rules_.push_back(*std::move(rule));
  }
  return parsed;
}

const CounterRule* CounterRules::find(std::string_view metric) const {
  const CounterRule* best = nullptr;
  for (const CounterRule& rule : rules_) {
    const std::string_view name = rule.metrics;
    if (name == metric) return &rule;
    if (!covers_metric(name, metric)) continue;
    if (best == nullptr || best->metrics.size() < name.size()) best = &rule;
  }
  return best;
}

}  // namespace halite::storage
