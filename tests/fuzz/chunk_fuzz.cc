// Bytes as chunks, summaries and head blocks, with a CRC that fits so that the decoders are
// reached; and as points, which must come back from all of them.
#include <algorithm>
#include <cstdint>

#include "common/bytes/crc32c.h"
#include "common/check.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/summary.h"

namespace halite::storage::chunk {
namespace {

constexpr std::size_t kEncodedAgainMax = 2048;  // a few bytes may decode to a hundred thousand

void check_order(const Points& points) {
  HALITE_CHECK(points.values.size() == points.size(), "a value a point");
  HALITE_CHECK(points.floats.size() == points.size(), "a type a point");
  for (std::size_t i = 1; i < points.size(); ++i) {
    HALITE_CHECK(points.times[i - 1] < points.times[i], "points by time, no time twice");
  }
}

// Used for all inputs, as those of a server are: making them takes longer than most inputs.
Encoder& encoder() {
  static Encoder one;
  return one;
}
Decoder& decoder() {
  static Decoder one;
  return one;
}

// What decodes is points like any other.
void check_encodes_again(const Points& points) {
  Bytes again;
  encoder().encode(points.view(), Level::kSealed, again);
  Points back;
  HALITE_CHECK(decoder().decode(again, back) && back == points, "encoded again, the same points");
}

void decode_all(BytesView bytes) {
  Bytes with_crc(bytes);
  append_be(with_crc, crc32c(bytes));
  Points points;
  if (decoder().decode(with_crc, points)) {
    check_order(points);
    if (points.size() <= kEncodedAgainMax) check_encodes_again(points);
  } else {
    HALITE_CHECK(points.empty(), "no points of damaged bytes");
  }
  static_cast<void>(read_header(with_crc));
  if (const auto summaries = decode_summaries(with_crc)) {
    for (std::size_t i = 1; i < summaries->spans.size(); ++i) {
      HALITE_CHECK(summaries->spans[i - 1].begin < summaries->spans[i].begin, "spans by time");
    }
  }
}

// Each point from a byte of shape and up to eight of value: near the last one or anything.
Points points_from(BytesView bytes) {
  Points points;
  TimestampMs time = 1'451'606'400'000;
  ValueBits value = 0;
  while (!bytes.empty()) {
    const auto shape = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    const std::size_t width = std::min<std::size_t>(shape & 7u, bytes.size());
    const std::uint64_t read = load_be_width(bytes.substr(0, width));
    bytes.remove_prefix(width);
    const bool is_float = (shape & 8) != 0;
    if ((shape & 16) != 0) {
      value = read << (64 - 8 * std::max<std::size_t>(width, 1));
    } else {
      value = is_float ? double_bits(static_cast<double>(read % 1'000'000) / 100) : value + read;
    }
    points.push_back(time, value, is_float);
    time += (shape & 32) != 0 ? 1 + static_cast<TimestampMs>(read >> 8) : 10'000;
  }
  return points;
}

void round_trip(const Points& points) {
  for (const Level level : {Level::kFast, Level::kSealed}) {
    Bytes bytes;
    encoder().encode(points.view(), level, bytes);
    Points back;
    HALITE_CHECK(decoder().decode(bytes, back) && back == points, "chunks give points back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  decode_all(bytes);
  const Points points = points_from(bytes);
  if (!points.empty()) round_trip(points);
  return 0;
}

}  // namespace halite::storage::chunk
