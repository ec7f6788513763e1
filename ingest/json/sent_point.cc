#include "ingest/json/sent_point.h"

#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "common/json_string.h"
#include "ingest/json/json_object.h"
#include "ingest/json/json_values.h"
#include "ingest/rules/java_number.h"

namespace halite::ingest {
namespace {

namespace ondemand = simdjson::ondemand;

void append_field_name(std::string& json, std::string_view name) {
  if (json.size() > 1) json += ',';
  append_json_string(json, name);
  json += ':';
}

}  // namespace

std::string echo_sent_point(const SentPoint& point) {
  std::string json = "{";
  if (point.metric) {
    append_field_name(json, "metric");
    append_json_string(json, *point.metric);
  }
  append_field_name(json, "timestamp");
  json += fmt::format("{}", point.timestamp);
  if (point.value) {
    append_field_name(json, "value");
    append_json_string(json, *point.value);
  }
  if (point.tags) {
    append_field_name(json, "tags");
    json += '{';
    for (bool first = true; const TagEntry* tag : point.tags->in_java_order()) {
      if (!first) json += ',';
      first = false;
      append_json_string(json, tag->key);
      json += ':';
      if (tag->value) {
        append_json_string(json, *tag->value);
      } else {
        json += "null";
      }
    }
    json += '}';
  }
  if (point.tsuid) {
    append_field_name(json, "tsuid");
    append_json_string(json, *point.tsuid);
  }
  json += '}';
  return json;
}

std::expected<NamedPoint, Refused> validate_sent_point(SentPoint point, const PointRules& rules) {
  if (!point.metric || point.metric->empty()) return illegal("Metric name was empty");
  if (point.timestamp <= 0) return illegal("Invalid timestamp");
  if (!point.value || point.value->empty()) return illegal("Empty value");
  if (!point.tags || point.tags->empty()) return illegal("Missing tags");
  const auto value = parse_value(*point.value);
  if (!value) {
    return refuse(RefusalReason::kInvalidValue, value.error());
  }
  return rules.validate(*point.metric, point.timestamp, *value, *std::move(point.tags), true);
}

struct SentPointReader::Impl {
  std::size_t depth_max;
  ondemand::parser parser;
  std::string text;  // a copy, followed by simdjson's padding
};

SentPointReader::SentPointReader(std::size_t json_depth_max)
    : impl_(std::make_unique<Impl>(json_depth_max)) {}

SentPointReader::~SentPointReader() = default;

Result<SentPoint> SentPointReader::read(std::string_view element) {
  impl_->text.assign(element);
  impl_->text.reserve(element.size() + simdjson::SIMDJSON_PADDING);
  const simdjson::padded_string_view padded(impl_->text.data(), element.size(),
                                            impl_->text.capacity());
  SentPoint point;
  const auto take = [&](std::string_view key, ondemand::value& value) {
    return read_point_field(key, value, point, impl_->depth_max);
  };
  TRY_VOID(each_field(impl_->parser, padded, take));
  return point;
}

}  // namespace halite::ingest
