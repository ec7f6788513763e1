// An element of a body of /api/histogram: a point with either a codec's bytes in base64 and their
// id, or buckets with underflow and overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/json/sent_point.h"
#include "ingest/rules/histogram_rules.h"

namespace halite::ingest {

struct SentHistogramPoint {
  using Buckets = std::vector<std::pair<std::string, std::optional<std::int64_t>>>;
  SentPoint point;
  std::int32_t id = 0;
  std::optional<Buckets> buckets;  // keys are bounds, "0,1.75"
  std::int64_t underflow = 0;
  std::int64_t overflow = 0;
};

// Like echo_sent_point().
[[nodiscard]] std::string echo_sent_histogram(const SentHistogramPoint& sent);

[[nodiscard]] std::expected<NamedHistogram, Refused> validate_sent_histogram(
    SentHistogramPoint sent, const HistogramRules& rules);

// Parses an object. An error fails the whole body.
[[nodiscard]] Result<SentHistogramPoint> read_sent_histogram(std::string_view element,
                                                             std::size_t json_depth_max);

}  // namespace halite::ingest
