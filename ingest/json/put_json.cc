#include "ingest/json/put_json.h"

#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "ingest/json/json_text.h"
#include "ingest/json/json_tokens.h"
#include "ingest/rules/java_number.h"
#include "ingest/rules/point_rules.h"

namespace halite::ingest {
namespace {

namespace ondemand = simdjson::ondemand;

// Elements passed on together: enough for their look-ups to overlap.
constexpr std::size_t kGroup = 32;

// A parser larger than this is freed after its body.
constexpr std::size_t kParserKeepBytes = 4 << 20;

// ---- the scan -----------------------------------------------------------------------------------

// The fields of one element found so far.
struct Met {
  bool metric = false;
  bool timestamp = false;
  bool value = false;
  bool tags = false;
};

bool scan_timestamp(std::string_view token, std::int64_t& timestamp) {
  if (token.empty() || token.size() > 13 || token.front() == '0') return false;
  timestamp = 0;
  for (const char byte : token) {
    if (!is_digit(byte)) return false;
    timestamp = (timestamp * 10) + (byte - '0');
  }
  return true;
}

bool scan_value(std::string_view token, Number& number) {
  if (is_json_number(token)) return parse_finite_value(token, number);
  if (!is_json_string(token)) return false;
  const std::string_view inner = token.substr(1, token.size() - 2);
  return !has_escape(inner) && parse_finite_value(inner, number);
}

bool is_plain_scalar(std::string_view token) {
  if (token == "true" || token == "false" || token == "null") return true;
  return is_json_number(token) || (is_json_string(token) && !has_escape(token));
}

// Scans one object from its beginning. Anything uncommon clears `fast`; then
// SentPointReader::read() parses it.
class ElementScan {
 public:
  simdjson::error_code run(ondemand::object& object) {
    for (auto result : object) {
      ondemand::field field;
      if (const auto error = std::move(result).get(field)) return error;
      if (const auto error = take(field)) return error;
    }
    return simdjson::SUCCESS;
  }

  void finish(JsonElement& element) const {
    element.fast = fast_ && met_.metric && met_.timestamp && met_.value && met_.tags;
    element.pieces = {.metric = metric_,
                      .tags = tags_,
                      .time = to_ms(timestamp_),
                      .value = value_.bits,
                      .flags = point_flags(timestamp_, value_.is_float, true)};
  }

 private:
  simdjson::error_code take(ondemand::field& field) {
    const std::string_view key = key_of(field);
    ondemand::value& value = field.value();
    if (key == "metric") {
      const std::string_view token = token_of(value);
      const bool good = is_json_string(token) && token.size() > 2;
      if (good) metric_ = token.substr(1, token.size() - 2);
      note(met_.metric, good);
    } else if (key == "timestamp") {
      note(met_.timestamp, scan_timestamp(token_of(value), timestamp_));
    } else if (key == "value") {
      note(met_.value, scan_value(token_of(value), value_));
    } else if (key == "tags") {
      return take_tags(value);
    } else if (has_escape(key) || !is_plain_scalar(token_of(value))) {
      fast_ = false;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code take_tags(ondemand::value& value) {
    const bool good = first_of(value) == '{';
    note(met_.tags, good);
    if (!good) return simdjson::SUCCESS;
    ondemand::object tags;
    if (const auto error = value.get_object().get(tags)) return error;
    std::string_view raw;
    if (const auto error = tags.raw_json().get(raw)) return error;
    tags_ = trim_json_end(raw);
    return simdjson::SUCCESS;
  }

  void note(bool& met, bool good) {
    fast_ = fast_ && good && !met;
    met = true;
  }

  bool fast_ = true;
  Met met_;
  std::string_view metric_;
  std::string_view tags_;
  std::int64_t timestamp_ = 0;
  Number value_;
};

}  // namespace

struct PutJsonParser::Impl {
  IngestLimits limits;
  std::unique_ptr<ondemand::parser> body_parser = std::make_unique<ondemand::parser>();

  Result<void> scan_array(ondemand::document& document, JsonSink& sink);
  Result<void> scan_object(ondemand::document& document, std::string_view text, JsonSink& sink);
  Result<void> scan_element(ondemand::document& document, ondemand::value& value,
                            JsonElement& element_found);
  Result<void> scan_document(ondemand::document& document, std::string_view text, JsonSink& sink);
};

Result<void> PutJsonParser::Impl::scan_element(ondemand::document& document, ondemand::value& value,
                                               JsonElement& found) {
  found = {};
  const std::string_view token = token_of(value);
  if (token == "null") return {};
  if (token.empty() || token.front() != '{') {
    return not_json(fmt::format("Expected a data point, found: {}", token.substr(0, 100)));
  }
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return not_json(error);
  ElementScan scan;
  if (const auto error = scan.run(object)) return not_json(error);
  scan.finish(found);
  const char* next = nullptr;
  if (const auto error = document.current_location().get(next)) return not_json(error);
  found.text = trim_json_end({token.data(), static_cast<std::size_t>(next - token.data())});
  return {};
}

Result<void> PutJsonParser::Impl::scan_array(ondemand::document& document, JsonSink& sink) {
  ondemand::array array;
  if (const auto error = document.get_array().get(array)) return not_json(error);
  std::array<JsonElement, kGroup> group;
  std::size_t used = 0;
  std::size_t count = 0;
  for (auto result : array) {
    ondemand::value value;
    if (const auto error = std::move(result).get(value)) return not_json(error);
    if (++count > limits.points_per_request_max) {
      return fail(
          Errc::kTooLarge,
          fmt::format("More than {} data points in one request", limits.points_per_request_max),
          "Send fewer at a time or raise ingest.points_per_request_max");
    }
    TRY_VOID(scan_element(document, value, group[used]));
    if (++used == kGroup) {
      TRY_VOID(sink.take(group));
      used = 0;
    }
  }
  if (count == 0) return fail(Errc::kInvalidArgument, "No datapoints found in content");
  return sink.take(std::span(group).first(used));
}

Result<void> PutJsonParser::Impl::scan_object(ondemand::document& document, std::string_view text,
                                              JsonSink& sink) {
  ondemand::object object;
  if (const auto error = document.get_object().get(object)) return not_json(error);
  ElementScan scan;
  if (const auto error = scan.run(object)) return not_json(error);
  JsonElement found;
  scan.finish(found);
  found.text = text;
  return sink.take(std::span(&found, 1));
}

Result<void> PutJsonParser::Impl::scan_document(ondemand::document& document, std::string_view text,
                                                JsonSink& sink) {
  const bool array = text.front() == '[';
  TRY_VOID(array ? scan_array(document, sink) : scan_object(document, text, sink));
  if (!at_end(document)) return not_json("Unexpected text after the data points");
  return {};
}

PutJsonParser::PutJsonParser(const IngestLimits& limits) : impl_(std::make_unique<Impl>()) {
  impl_->limits = limits;
}

PutJsonParser::~PutJsonParser() = default;

Result<void> PutJsonParser::scan(std::string& body, JsonSink& sink) {
  if (java_trim(body).empty()) return fail(Errc::kInvalidArgument, "Missing request content");
  for (bool repaired = false;; repaired = true) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    const std::string_view text = java_trim(body);
    if (text.front() != '{' && text.front() != '[') {
      return fail(Errc::kInvalidArgument, "The JSON must start as an object or an array");
    }
    const auto before = static_cast<std::size_t>(text.data() - body.data());
    const simdjson::padded_string_view padded(text.data(), text.size(), body.capacity() - before);
    ondemand::document document;
    const auto error = impl_->body_parser->iterate(padded).get(document);
    if (error == simdjson::UTF8_ERROR && !repaired) {
      body = repair_utf8(body);
      continue;
    }
    if (error != simdjson::SUCCESS) return not_json(error);
    auto outcome = impl_->scan_document(document, text, sink);
    if (impl_->body_parser->capacity() > kParserKeepBytes) {
      impl_->body_parser = std::make_unique<ondemand::parser>();
    }
    return outcome;
  }
}

}  // namespace halite::ingest
