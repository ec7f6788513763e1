// Count, sum, minimum and maximum of aligned spans of one series' points, in few bytes, so that
// downsampling need not decode. docs/formats/chunk.md has the bytes.
//
// Rules. Numbers are the values as doubles. min and max are exact (the first such value in time
// order: -0 before 0 stays -0). A sum is exact if sum_exact says so; then adding the values one by
// one in any order gives the same double. Else it is within count * 2^-52 times the sum of the
// magnitudes of that. A span where a value is NaN or infinite is `decode_only`: it has its count
// and nothing else. Spans without points are not there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

struct SpanSummary {
  TimestampMs begin = 0;  // of the span: a multiple of its length
  std::uint32_t count = 0;
  bool decode_only = false;  // sum, min, max mean nothing
  bool sum_exact = false;
  double sum = 0;
  double min = 0;
  double max = 0;
  bool operator==(const SpanSummary&) const = default;
};

inline constexpr std::size_t kSummarySpansMax = 4096;

// Appends the summaries of 1 to kChunkPointsMax points to `out`. span_ms > 0; more than
// kSummarySpansMax spans with points are a bug of the caller's.
void encode_summaries(PointsView points, std::int64_t span_ms, Bytes& out);

struct Summaries {
  std::int64_t span_ms = 0;
  std::vector<SpanSummary> spans;  // by begin
};

// Checks the CRC; kCorruption if the bytes are no summaries, kUnsupported if of a later version.
[[nodiscard]] Result<Summaries> decode_summaries(BytesView bytes);

// The same for one series after the other, whose memory is of use again. For one at a time.
class SummaryDecoder {
 public:
  SummaryDecoder();
  ~SummaryDecoder();
  // Until the next call, or until it goes.
  [[nodiscard]] Result<const Summaries*> decode(BytesView bytes);

 private:
  struct Room;
  const std::unique_ptr<Room> room_;
};

}  // namespace halite::storage::chunk
