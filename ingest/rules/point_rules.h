// Validation of points, with OpenTSDB's order of checks and its messages.
#pragma once

#include <bitset>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "common/data_point.h"
#include "ingest/options.h"
#include "ingest/rules/java_number.h"
#include "ingest/rules/refusal.h"
#include "ingest/rules/tag_map.h"

namespace halite::ingest {

// A point with the names of its series.
struct NamedPoint {
  SeriesName series;
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;  // PointFlag bits
};

// The greatest timestamp: 13 digits of milliseconds.
inline constexpr std::int64_t kTimestampMax = 9'999'999'999'999;

// A timestamp with any of its upper 32 bits set is in milliseconds, otherwise in seconds.
[[nodiscard]] inline bool is_millis(std::int64_t timestamp) {
  return (static_cast<std::uint64_t>(timestamp) & 0xFFFF'FFFF'0000'0000) != 0;
}
[[nodiscard]] inline TimestampMs to_ms(std::int64_t timestamp) {
  return is_millis(timestamp) ? timestamp : timestamp * 1000;
}
[[nodiscard]] inline std::uint8_t point_flags(std::int64_t timestamp, bool is_float, bool wide) {
  return static_cast<std::uint8_t>((is_float ? kFloat | (wide ? kWide : 0) : 0) |
                                   (is_millis(timestamp) ? kMillis : 0));
}

// OpenTSDB's message for an invalid timestamp. `stored`: the bytes of the value and its flags in
// the qualifier.
[[nodiscard]] Refused bad_timestamp(std::string_view metric, std::int64_t timestamp,
                                    std::string_view stored, unsigned flags, const TagMap& tags);
[[nodiscard]] Refused bad_timestamp(std::string_view metric, std::int64_t timestamp, Number value,
                                    const TagMap& tags, bool wide);

// The refusal of an infinite value or NaN; nullopt for a finite value.
[[nodiscard]] std::optional<Refused> not_finite(std::string_view metric, std::int64_t timestamp,
                                                Number value);

// Immutable. Call from any thread.
class PointRules {
 public:
  PointRules(const IngestLimits& limits, std::string_view special_characters);

  // Returns the point, or why it is refused. `wide`: OpenTSDB would store a float in eight bytes
  // even if four are exact. `timestamp` is positive.
  [[nodiscard]] std::expected<NamedPoint, Refused> validate(std::string_view metric,
                                                            std::int64_t timestamp, Number value,
                                                            TagMap tags, bool wide) const;

  // The part of validate() that depends on neither timestamp nor value.
  [[nodiscard]] std::expected<SeriesName, Refused> validate_series(std::string_view metric,
                                                                   TagMap tags) const;

  [[nodiscard]] const IngestLimits& limits() const { return limits_; }

  // Checks a name that is not part of a point. The error: "Invalid <what> ...".
  [[nodiscard]] Result<void> check_name(std::string_view what, std::string_view name) const;

 private:
  enum class NamePart : std::uint8_t { kMetric, kTagKey, kTagValue };

  // A fast check for common names. If false, the name may still be legal.
  [[nodiscard]] bool is_plain(std::string_view name) const;
  // `other` is the tag's value for its key and the key for its value. Returns the text after
  // "Invalid <what>" in the message; nullopt for a legal name.
  [[nodiscard]] std::optional<std::string> fault(const std::string_view* name) const;
  [[nodiscard]] std::optional<Refused> violation(NamePart part, const std::string_view* name,
                                                 std::string_view other) const;
  [[nodiscard]] std::optional<Refused> violation_in(const TagMap& tags) const;

  IngestLimits limits_;
  std::bitset<0x10000> legal_;  // by UTF-16 unit
};

}  // namespace halite::ingest
