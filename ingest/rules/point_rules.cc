#include "ingest/rules/point_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/bytes.h"
#include "common/bytes/utf8.h"
#include "common/java/java_letters.h"

namespace halite::ingest {
namespace {

// The bytes that OpenTSDB would store for a value, and its flags. A message contains them.
struct StoredValue {
  Bytes bytes;
  unsigned flags = 0;
};

template <class T>
bool fits(std::int64_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

StoredValue stored_value(Number value, bool wide) {
  StoredValue stored;
  if (!value.is_float) {
    const std::int64_t integer = as_integer(value.bits);
    unsigned width = 8;
    if (fits<std::int8_t>(integer)) {
      width = 1;
    } else if (fits<std::int16_t>(integer)) {
      width = 2;
    } else if (fits<std::int32_t>(integer)) {
      width = 4;
    }
    append_be_width(stored.bytes, value.bits, width);
    stored.flags = width - 1;
    return stored;
  }
  const double real = as_double(value.bits);
  const auto single = static_cast<float>(real);
  if (!wide && static_cast<double>(single) == real) {
    append_be(stored.bytes, std::bit_cast<std::uint32_t>(single));
    stored.flags = 0xB;
  } else {
    append_be(stored.bytes, value.bits);
    stored.flags = 0xF;
  }
  return stored;
}

// By UTF-16 unit.
const std::bitset<0x10000>& always_legal() {
  static const std::bitset<0x10000> kLegal = [] {
    std::bitset<0x10000> made;
    const auto allow = [&](char32_t first, char32_t last) {
      for (char32_t unit = first; unit <= last; ++unit) made.set(unit);
    };
    allow(U'a', U'z');
    allow(U'A', U'Z');
    allow(U'0', U'9');
    for (const char32_t unit : {U'-', U'_', U'.', U'/'}) made.set(unit);
    for (const LetterRange range : letter_ranges()) allow(range.first, range.last);
    return made;
  }();
  return kLegal;
}

}  // namespace

Refused bad_timestamp(std::string_view metric, std::int64_t timestamp, std::string_view stored,
                      unsigned flags, const TagMap& tags) {
  std::string bytes;
  for (const char byte : stored) {
    if (!bytes.empty()) bytes += ", ";
    bytes += fmt::format("{}", static_cast<int>(static_cast<signed char>(byte)));
  }
  return {.reason = RefusalReason::kIllegalArgument,
          .text = fmt::format("bad timestamp={} when trying to add value=[{}]/{} to metric={}, "
                              "tags={}",
                              timestamp, bytes, flags, metric, tags.to_string())};
}

Refused bad_timestamp(std::string_view metric, std::int64_t timestamp, Number value,
                      const TagMap& tags, bool wide) {
  const StoredValue stored = stored_value(value, wide);
  return bad_timestamp(metric, timestamp, stored.bytes, stored.flags, tags);
}

std::optional<Refused> not_finite(std::string_view metric, std::int64_t timestamp, Number value) {
  if (!value.is_float || std::isfinite(as_double(value.bits))) return std::nullopt;
  const double real = as_double(value.bits);
  const std::string_view name = std::isnan(real) ? "NaN" : real < 0 ? "-Infinity" : "Infinity";
  return Refused{.reason = RefusalReason::kIllegalArgument,
                 .text = fmt::format("value is NaN or Infinite: {} for metric={} timestamp={}",
                                     name, metric, timestamp)};
}

PointRules::PointRules(const IngestLimits& limits, std::string_view special_characters)
    : limits_(limits), legal_(always_legal()) {
  each_utf16_unit(special_characters, [&](char16_t unit) { legal_.set(unit); });
}

std::optional<std::string> PointRules::fault(const std::string_view* name) const {
  if (name == nullptr) return ": null";
  if (name->empty()) return ": empty string";
  if (name->size() > limits_.name_bytes_max) {
    return fmt::format(": {} bytes long, at most {} are allowed (ingest.name_bytes_max)",
                       name->size(), limits_.name_bytes_max);
  }
  std::optional<char16_t> wrong;
  each_utf16_unit(*name, [&](char16_t unit) {
    if (!legal_[unit] && !wrong) wrong = unit;
  });
  if (!wrong) return std::nullopt;
  std::string character;
  append_utf8(character, *wrong);
  return fmt::format(" (\"{}\"): illegal character: {}", *name, character);
}

std::optional<Refused> PointRules::violation(NamePart part, const std::string_view* name,
                                             std::string_view other) const {
  const std::optional<std::string> found = fault(name);
  if (!found) return std::nullopt;
  std::string what;
  switch (part) {
    case NamePart::kMetric:
      what = "metric name";
      break;
    case NamePart::kTagKey:
      what = fmt::format("tag name with value [{}]", other);
      break;
    case NamePart::kTagValue:
      what = fmt::format("tag value with key [{}]", other);
      break;
  }
  return Refused{.reason = RefusalReason::kIllegalArgument,
                 .text = fmt::format("Invalid {}{}", what, *found)};
}

Result<void> PointRules::check_name(std::string_view what, std::string_view name) const {
  const std::optional<std::string> found = fault(&name);
  if (!found) return {};
  return fail(Errc::kInvalidArgument, fmt::format("Invalid {}{}", what, *found));
}

bool PointRules::is_plain(std::string_view name) const {
  if (name.empty() || name.size() > limits_.name_bytes_max) return false;
  for (const char byte : name) {
    const auto unit = static_cast<unsigned char>(byte);
    if (unit >= 0x80 || !legal_[unit]) return false;
  }
  return true;
}

// In the order of Java's map, which decides the name that the message gives.
std::optional<Refused> PointRules::violation_in(const TagMap& tags) const {
  for (const TagEntry* tag : tags.in_java_order()) {
    const std::string_view key = tag->key;
    const std::string_view value = tag->value ? *tag->value : std::string_view("null");
    if (auto wrong = violation(NamePart::kTagKey, &key, value)) return wrong;
    if (auto wrong = violation(NamePart::kTagValue, tag->value ? &value : nullptr, key))
      return wrong;
  }
  return std::nullopt;
}

std::expected<SeriesName, Refused> PointRules::validate_series(std::string_view metric,
                                                               TagMap tags) const {
  if (tags.empty()) {
    return illegal(fmt::format("Need at least one tag (metric={}, tags={{}})", metric));
  }
  if (tags.size() > limits_.tags_max) {
    return illegal(fmt::format("Too many tags: {} maximum allowed: {}, tags: {}", tags.size(),
                               limits_.tags_max, tags.to_string()));
  }
  if (!is_plain(metric)) {
    if (auto wrong = violation(NamePart::kMetric, &metric, {})) {
      return std::unexpected(*std::move(wrong));
    }
  }
  const bool plain = std::ranges::all_of(tags.arrived(), [&](const TagEntry& tag) {
    return tag.value && is_plain(tag.key) && is_plain(*tag.value);
  });
  if (!plain) {
    if (auto wrong = violation_in(tags)) return std::unexpected(*std::move(wrong));
  }
  SeriesName series{.metric = std::string(metric), .tags = {}};
  series.tags.reserve(tags.size());
  for (TagEntry& tag : std::move(tags).take()) {
    series.tags.push_back({.key = std::move(tag.key), .value = *std::move(tag.value)});
  }
  std::ranges::sort(series.tags);
  return series;
}

std::expected<NamedPoint, Refused> PointRules::validate(std::string_view metric,
                                                        std::int64_t timestamp, Number value,
                                                        TagMap tags, bool wide) const {
  if (auto wrong = not_finite(metric, timestamp, value)) return std::unexpected(*std::move(wrong));
  if (timestamp > kTimestampMax) {
    return std::unexpected(bad_timestamp(metric, timestamp, value, tags, wide));
  }
  auto series = validate_series(metric, std::move(tags));
  if (!series) return std::unexpected(std::move(series).error());
  return NamedPoint{.series = *std::move(series),
                    .time = to_ms(timestamp),
                    .value = value.bits,
                    .flags = point_flags(timestamp, value.is_float, wide)};
}

}  // namespace halite::ingest
