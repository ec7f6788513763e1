// A run of one series' points in one cell's bytes, and back, bit for bit. docs/formats/chunk.md has
// every byte; docs/decisions/0008 says why these codecs.
//
//   Order    points by time, no time twice.
//   Threads  an encoder or decoder is for one thread at a time: it keeps its scratch memory.
//   Errors   bytes that are no chunk, or whose CRC is wrong: kCorruption. A version or codec of a
//            later Halite: kUnsupported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

inline constexpr std::size_t kChunkPointsMax = std::size_t{1} << 17;
// From this many points on, a chunk's header has its statistics and last value.
inline constexpr std::size_t kStatisticsPointsMin = 64;

enum class Level : std::uint8_t {
  kFast,    // for flushes of young data: bit-packed
  kSealed,  // for data that will not change: the smallest of all codecs
};

// Over all values as doubles. Not there where a value is NaN or infinite. min and max are the
// first such value in time order. The sum is exact if `sum_exact`; else its error is at most
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
  TimestampMs last_time = 0;  // included
  std::optional<LastValue> last;
  std::optional<Statistics> statistics;
};

class Encoder {
 public:
  Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  // Appends one chunk to `out`. 1 to kChunkPointsMax points; it is a bug to give others.
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

  // Appends the points of a whole chunk to `out`. Checks the CRC first. On an error `out` has what
  // it had before.
  Result<void> decode(BytesView chunk, Points& out);

  // Those in the range only, and of a long sealed chunk hardly more is decoded.
  Result<void> decode(BytesView chunk, TimeRange range, Points& out);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

// The header alone, for choosing which chunks to decode. Does not check the CRC, which is over
// all bytes: numbers of it may be wrong where decode() says kCorruption.
[[nodiscard]] Result<Header> read_header(BytesView chunk);

// kCorruption if the CRC is not that of the bytes: after it, read_header() can be believed.
[[nodiscard]] Result<void> check_crc(BytesView chunk);

}  // namespace halite::storage::chunk
