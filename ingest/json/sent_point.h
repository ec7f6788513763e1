// One point of a JSON body, parsed as Jackson does for OpenTSDB.
//
//   Coercions  numbers may be quoted; booleans and numbers become text where text is expected; a
//              fractional timestamp is truncated; null counts as absent; unknown fields are
//              skipped; of duplicate fields the last counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "ingest/rules/point_rules.h"
#include "ingest/rules/refusal.h"
#include "ingest/rules/tag_map.h"

namespace halite::ingest {

// A point as sent. Absent members were absent or null.
struct SentPoint {
  std::optional<std::string> metric;
  std::int64_t timestamp = 0;
  std::optional<std::string> value;
  std::optional<TagMap> tags;
  std::optional<std::string> tsuid;  // accepted and ignored, as in OpenTSDB
};

// The point as an object with OpenTSDB's order of fields: `datapoint` in an answer.
[[nodiscard]] std::string echo_sent_point(const SentPoint& point);

[[nodiscard]] std::expected<NamedPoint, Refused> validate_sent_point(SentPoint point,
                                                                     const PointRules& rules);

// Serves one body at a time.
class SentPointReader {
 public:
  // Nested arrays and objects, including the body's array.
  explicit SentPointReader(std::size_t json_depth_max);
  ~SentPointReader();

  // Parses an object. An error fails the whole body: a malformed point fails its request.
  [[nodiscard]] Result<SentPoint> read(std::string_view element);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
