// One point of a JSON body, taken apart as Jackson would for OpenTSDB.
//
//   Coercions  numbers may be quoted; booleans and numbers become text where text is wanted; a
//              timestamp with a fraction is cut; null is as good as absent; unknown fields are
//              skipped; of a field that comes twice the last counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "ingest/point_rules.h"
#include "ingest/refusal.h"
#include "ingest/tag_map.h"

namespace halite::ingest {

// A point as it was sent; what is absent was absent or null.
struct SentPoint {
  std::optional<std::string> metric;
  std::int64_t timestamp = 0;
  std::optional<std::string> value;
  std::optional<TagMap> tags;
  std::optional<std::string> tsuid;  // taken and not used, as OpenTSDB does
};

// The point as an object, in OpenTSDB's order of fields: an entry's `datapoint` in the answer.
[[nodiscard]] std::string echo_sent_point(const SentPoint& point);

[[nodiscard]] std::expected<NamedPoint, Refused> validate_sent_point(SentPoint point,
                                                                     const PointRules& rules);

// For one body at a time.
class SentPointReader {
 public:
  // Arrays and objects in each other, counted from the body's array.
  explicit SentPointReader(std::size_t json_depth_max);
  ~SentPointReader();

  // The text of an object. An error is the whole body's: a point of the wrong shape fails its
  // whole request.
  [[nodiscard]] Result<SentPoint> read(std::string_view element);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
