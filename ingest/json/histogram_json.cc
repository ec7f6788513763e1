#include "ingest/json/histogram_json.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/bytes/base64.h"
#include "common/json_string.h"
#include "ingest/json/json_object.h"
#include "ingest/rules/refusal.h"

namespace halite::ingest {
namespace {

namespace ondemand = simdjson::ondemand;

// A duplicate name keeps its place and gets the later count.
void put(SentHistogramPoint::Buckets& buckets, std::string name,
         std::optional<std::int64_t> count) {
  const auto known =
      std::ranges::find(buckets, name, &SentHistogramPoint::Buckets::value_type::first);
  if (known == buckets.end()) {
    buckets.emplace_back(std::move(name), count);
  } else {
    known->second = count;
  }
}

Result<std::optional<SentHistogramPoint::Buckets>> read_buckets(ondemand::value& value) {
  using Buckets = std::optional<SentHistogramPoint::Buckets>;
  if (first_of(value) != '{') {
    if (token_of(value) == "null") return Buckets();
    return not_json("buckets: expected an object");
  }
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return not_json(error);
  SentHistogramPoint::Buckets buckets;
  for (auto result : object) {
    ondemand::field field;
    if (const auto error = std::move(result).get(field)) return not_json(error);
    TRY(std::string name, key_text(field));
    const std::string_view token = token_of(field.value());
    std::optional<std::int64_t> count;
    if (token != "null") {
      TRY(count, read_long(token));
    }
    put(buckets, std::move(name), count);
  }
  return Buckets(std::move(buckets));
}

Result<std::int32_t> read_int(std::string_view token) {
  TRY(const std::int64_t value, read_long(token));
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    return not_json(fmt::format("Cannot read an int value from: {}", token.substr(0, 100)));
  }
  return static_cast<std::int32_t>(value);
}

std::expected<Bytes, Refused> value_of(const SentHistogramPoint& sent,
                                       const HistogramRules& rules) {
  if (sent.point.value && !sent.point.value->empty()) {
    auto recoded = rules.recode(sent.id, from_lenient_base64(*sent.point.value));
    if (!recoded && recoded.error().reason == RefusalReason::kStorage) {
      return illegal("Unexpected exception");
    }
    return recoded;
  }
  const auto simple = rules.simple_id();
  if (!simple) return std::unexpected(simple.error());
  storage::SimpleHistogram histogram;
  histogram.underflow = sent.underflow;
  histogram.overflow = sent.overflow;
  for (const auto& [bounds, count] : *sent.buckets) {
    if (auto added = add_bucket(histogram, bounds, count.value_or(0)); !added) {
      return std::unexpected(std::move(added).error());
    }
  }
  return encode_histogram(*simple, histogram);
}

}  // namespace

std::string echo_sent_histogram(const SentHistogramPoint& sent) {
  std::string json = echo_sent_point(sent.point);
  json.pop_back();  // the closing brace; a point always has a timestamp
  json += fmt::format(",\"id\":{}", sent.id);
  if (sent.buckets) {
    json += ",\"buckets\":{";
    for (const auto& [bounds, count] : *sent.buckets) {
      if (json.back() != '{') json += ',';
      append_json_string(json, bounds);
      json += count ? fmt::format(":{}", *count) : ":null";
    }
    json += '}';
  }
  json += fmt::format(",\"underflow\":{},\"overflow\":{}}}", sent.underflow, sent.overflow);
  return json;
}

std::expected<NamedHistogram, Refused> validate_sent_histogram(SentHistogramPoint sent,
                                                               const HistogramRules& rules) {
  SentPoint& point = sent.point;
  if (!point.metric || point.metric->empty()) return illegal("Metric name was empty");
  if (point.timestamp <= 0) return illegal("Invalid timestamp");
  if (!point.tags || point.tags->empty()) return illegal("Missing tags");
  if (!point.value || point.value->empty()) {
    if (!sent.buckets || sent.buckets->empty()) {
      return illegal("Histogram buckets cannot be null or empty if 'value' is empty.");
    }
  } else if (sent.id < 0 || sent.id > 255) {
    return illegal("Invalid type. Must be from 0 to 255.");
  }
  auto value = value_of(sent, rules);
  if (!value) return std::unexpected(std::move(value).error());
  return rules.validate(
      {.metric = *point.metric, .timestamp = point.timestamp, .tags = *std::move(point.tags)},
      *std::move(value));
}

Result<SentHistogramPoint> read_sent_histogram(std::string_view element,
                                               std::size_t json_depth_max) {
  SentHistogramPoint sent;
  TRY_VOID(each_field(element, [&](std::string_view key, auto& value) -> Result<void> {
    if (key == "id") {
      TRY(sent.id, read_int(token_of(value)));
    } else if (key == "buckets") {
      TRY(sent.buckets, read_buckets(value));
    } else if (key == "underflow") {
      TRY(sent.underflow, read_long(token_of(value)));
    } else if (key == "overflow") {
      TRY(sent.overflow, read_long(token_of(value)));
    } else {
      TRY_VOID(read_point_field(key, value, sent.point, json_depth_max));
    }
    return {};
  }));
  return sent;
}

}  // namespace halite::ingest
