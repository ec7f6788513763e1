// Encodes a run of one series' points as a chunk, and decodes it bit for bit. Every byte:
// docs/formats/chunk.md. Why these codecs: docs/decisions/0008.
//
//   Order    points in time order, without duplicate times.
//   Threads  an encoder or decoder is not thread-safe: it keeps scratch memory.
//   Errors   kCorruption: not a chunk, or a wrong CRC. kUnsupported: a version or codec of a later
//            Halite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

inline constexpr std::size_t kChunkPointsMax = std::size_t{1} << 17;
// Chunks with at least this many points have statistics and the last value in their headers.
inline constexpr std::size_t kStatisticsPointsMin = 64;

enum class Level : std::uint8_t {
  kFast,    // for flushes of recent data: bit-packed
  kSealed,  // for data that will not change: the smallest of all codecs
};

// Statistics over all values as doubles; absent if a value is NaN or infinite. min and max are the
// first such value in time order. The sum is exact if `sum_exact`; otherwise its error is at most
// count * 2^-52 times the sum of the magnitudes.
struct Statistics {
  double sum = 0;
  double min = 0;
  double max = 0;
  bool sum_exact = false;
  bool operator==(const Statistics&) const = default;
};

struct LastValue {
  ValueBits value = 0;
  bool is_float = false;
  bool operator==(const LastValue&) const = default;
};

struct Header {
  std::uint32_t count = 0;  // 1 to kChunkPointsMax
  TimestampMs first_time = 0;
  TimestampMs last_time = 0;  // inclusive
  std::optional<LastValue> last;
  std::optional<Statistics> statistics;
};

class Encoder {
 public:
  Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  // Appends a chunk of 1 to kChunkPointsMax points to `out`.
  void encode(PointsView points, Level level, Bytes& out);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

class Decoder {
 public:
  Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // Appends the points of a chunk to `out`, after it checks the CRC. On an error `out` is
  // unchanged.
  Result<void> decode(BytesView chunk, Points& out);

  // Appends only points in the range. Decodes little more than these of a long sealed chunk.
  Result<void> decode(BytesView chunk, TimeRange range, Points& out);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

// Reads only the header, to choose the chunks to decode. Does not check the CRC, which covers all
// bytes: the header may be wrong where decode() returns kCorruption.
[[nodiscard]] Result<Header> read_header(BytesView chunk);

// kCorruption if the CRC is wrong. After success you can trust read_header().
[[nodiscard]] Result<void> check_crc(BytesView chunk);

}  // namespace halite::storage::chunk
