// Summaries: count, sum, minimum and maximum of aligned spans of one series' points, in few bytes.
// Downsampling can use them without decoding points. Bytes: docs/formats/chunk.md.
//
// Rules. Numbers are the values as doubles. min and max are exact (the first such value in time
// order: -0 before 0 stays -0). A sum is exact if sum_exact is set: adding the values in any order
// gives the same double. Otherwise its error is at most count * 2^-52 times the sum of the
// magnitudes. A span that contains NaN or an infinite value is `decode_only`: only its count is
// valid. Spans without points are omitted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

struct SpanSummary {
  TimestampMs begin = 0;  // of the span: a multiple of its length
  std::uint32_t count = 0;
  bool decode_only = false;  // sum, min, max are invalid
  bool sum_exact = false;
  double sum = 0;
  double min = 0;
  double max = 0;
  bool operator==(const SpanSummary&) const = default;
};

inline constexpr std::size_t kSummarySpansMax = 4096;

// Appends the summaries of 1 to kChunkPointsMax points to `out`. span_ms must be positive. At most
// kSummarySpansMax spans may have points.
void encode_summaries(PointsView points, std::int64_t span_ms, Bytes& out);

struct Summaries {
  std::int64_t span_ms = 0;
  std::vector<SpanSummary> spans;  // by begin
};

// Checks the CRC. kCorruption: the bytes are not summaries; kUnsupported: a later version.
[[nodiscard]] Result<Summaries> decode_summaries(BytesView bytes);

// Decodes the summaries of many series and reuses its memory. Not thread-safe.
class SummaryDecoder {
 public:
  SummaryDecoder();
  ~SummaryDecoder();
  // The result is valid until the next call.
  [[nodiscard]] Result<const Summaries*> decode(BytesView bytes);

 private:
  struct Room;
  const std::unique_ptr<Room> room_;
};

}  // namespace halite::storage::chunk
