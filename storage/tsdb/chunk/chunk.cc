#include "storage/tsdb/chunk/chunk.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/bytes/crc32c.h"
#include "common/check.h"
#include "storage/tsdb/chunk/codecs/number.h"
#include "storage/tsdb/chunk/codecs/times.h"
#include "storage/tsdb/chunk/codecs/value_column.h"
#include "storage/tsdb/chunk/codecs/wire.h"
#include "storage/tsdb/chunk/statistics.h"

namespace halite::storage::chunk {
namespace {

constexpr std::uint8_t kVersionPlain = 1;
constexpr std::uint8_t kVersionSegments = 2;  // some column has segments

// The second byte: types in bits 0 and 1, times in 2 and 3, values in 4 and 5, then these flags.
constexpr std::uint8_t kHasStatistics = 0x40;
constexpr std::uint8_t kSumExact = 0x80;

struct Codecs {
  ValueCodecs values;
  TimeCodec times = TimeCodec::kConstantStep;
};

std::unexpected<Error> damaged_chunk(const char* what, BytesView chunk) {
  return fail(Errc::kCorruption,
              std::string("chunk of ") + std::to_string(chunk.size()) + " bytes: " + what);
}

std::unexpected<Error> mismatch(BytesView chunk) {
  return damaged_chunk("its columns do not match its header", chunk);
}

std::uint32_t stored_crc(BytesView chunk) {
  return load_be<std::uint32_t>(chunk.data() + chunk.size() - kCrc32cBytes);
}

void append_header(PointsView points, Bytes& out, std::uint8_t& flags) {
  append_varint(out, points.size() - 1);
  append_signed(out, static_cast<std::uint64_t>(points.times.front()));
  append_varint(out, static_cast<std::uint64_t>(points.times.back()) -
                         static_cast<std::uint64_t>(points.times.front()));
  if (points.size() < kStatisticsPointsMin) return;
  append_number(out, points.values.back(), points.is_float(points.size() - 1));
  const Totals totals = total(points);
  if (!totals.finite) return;
  flags |= kHasStatistics | (totals.sum_exact ? kSumExact : 0);
  for (const double number : {totals.sum, totals.min, totals.max}) {
    append_number(out, double_bits(number), true);
  }
}

double read_double(Reader& from) {
  const TypedValue number = read_number(from);
  if (!number.is_float) from.set_bad();
  return as_double(number.value);
}

// Reads up to the begin of the times.
Result<Header> parse_header(BytesView chunk, Reader& from, Codecs& codecs) {
  if (chunk.size() < 2 + kCrc32cBytes) return damaged_chunk("too short", chunk);
  const std::uint8_t version = from.byte();
  if (version != kVersionPlain && version != kVersionSegments) {
    return fail(Errc::kUnsupported, "unsupported chunk version " + std::to_string(version) +
                                        "; this version of Halite reads versions 1 and 2");
  }
  const std::uint8_t flags = from.byte();
  codecs.values.types = static_cast<TypeCodec>(flags & 3u);
  codecs.times = static_cast<TimeCodec>(flags >> 2 & 3u);
  codecs.values.values = static_cast<ValueCodec>(flags >> 4 & 3u);
  const std::uint64_t count = from.varint();
  Header header;
  const std::uint64_t first = from.signed_varint();
  const std::uint64_t span = from.varint();
  header.first_time = static_cast<TimestampMs>(first);
  header.last_time = static_cast<TimestampMs>(first + span);
  if (codecs.times > TimeCodec::kInts) {
    return damaged_chunk("unknown codec", chunk);
  }
  if (!from.ok() || count >= kChunkPointsMax || header.last_time < header.first_time ||
      span < count || (count == 0 && span != 0)) {
    return damaged_chunk("bad count or times", chunk);
  }
  header.count = static_cast<std::uint32_t>(count + 1);
  if (header.count >= kStatisticsPointsMin) {
    const TypedValue last = read_number(from);
    header.last = LastValue{last.value, last.is_float};
  }
  if ((flags & kHasStatistics) != 0) {
    Statistics statistics;
    statistics.sum = read_double(from);
    statistics.min = read_double(from);
    statistics.max = read_double(from);
    statistics.sum_exact = (flags & kSumExact) != 0;
    header.statistics = statistics;
  }
  if (!from.ok()) return damaged_chunk("bad header", chunk);
  return header;
}

}  // namespace

struct Encoder::Scratch {
  ValueScratch values;
};

Encoder::Encoder() : scratch_(std::make_unique<Scratch>()) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

void Encoder::encode(PointsView points, Level level, Bytes& out) {
  HALITE_CHECK(points.size() > 0 && points.size() <= kChunkPointsMax,
               "a chunk must have 1 to 2^17 points");
  bool ascending = true;
  for (std::size_t i = 1; i < points.size(); ++i) {
    ascending &= points.times[i - 1] < points.times[i];
  }
  HALITE_CHECK(ascending, "a chunk's points are by time, no time twice");
  const bool small = level == Level::kSealed;
  const std::size_t begin = out.size();
  out.push_back(static_cast<char>(kVersionPlain));
  out.push_back(0);
  std::uint8_t flags = 0;
  append_header(points, out, flags);
  IntScratch& columns = scratch_->values.ints;
  columns.segmented = false;
  const TimeCodec times = append_times(points.times, small, scratch_->values.ints, out);
  const ValueCodecs values = append_values(points, small, scratch_->values, out);
  flags |= static_cast<std::uint8_t>(static_cast<unsigned>(values.types) |
                                     static_cast<unsigned>(times) << 2 |
                                     static_cast<unsigned>(values.values) << 4);
  if (columns.segmented) out[begin] = static_cast<char>(kVersionSegments);
  out[begin + 1] = static_cast<char>(flags);
  append_be(out, crc32c(BytesView(out).substr(begin)));
}

struct Decoder::Scratch {
  bool read_all(Reader& from, const Header& header, const Codecs& codecs, Points& out);

  ValueScratch values;
  // Buffers for partially decoded chunks; they never shrink.
  std::vector<TimestampMs> times;
  std::vector<ValueBits> bits;
  FloatBits floats;
};

Decoder::Decoder() : scratch_(std::make_unique<Scratch>()) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<void> Decoder::decode(BytesView chunk, Points& out) {
  TRY_VOID(check_crc(chunk));
  Reader from(chunk.substr(0, chunk.size() - kCrc32cBytes));
  Codecs codecs;
  TRY(const Header header, parse_header(chunk, from, codecs));
  if (!scratch_->read_all(from, header, codecs, out)) return mismatch(chunk);
  return {};
}

// False: the columns do not match the header.
bool Decoder::Scratch::read_all(Reader& from, const Header& header, const Codecs& codecs,
                                Points& out) {
  const std::size_t begin = out.size();
  const std::size_t count = header.count;
  out.times.resize(begin + count);
  out.values.resize(begin + count);
  read_times(from, codecs.times, header.first_time, header.last_time, values.ints,
             std::span(out.times).subspan(begin));
  if (from.ok()) {
    read_values(from, codecs.values, values, std::span(out.values).subspan(begin), out.floats);
  }
  const bool right = from.ok() && from.left().empty() &&
                     (!header.last || (header.last->value == out.values.back() &&
                                       header.last->is_float == out.floats[begin + count - 1]));
  if (!right) {
    out.times.resize(begin);
    out.values.resize(begin);
    out.floats.truncate(begin);
  }
  return right;
}

Result<void> Decoder::decode(BytesView chunk, TimeRange range, Points& out) {
  TRY_VOID(check_crc(chunk));
  Reader from(chunk.substr(0, chunk.size() - kCrc32cBytes));
  Codecs codecs;
  TRY(const Header header, parse_header(chunk, from, codecs));
  if (range.begin >= range.end || header.last_time < range.begin ||
      header.first_time >= range.end) {
    return {};
  }
  Scratch& scratch = *scratch_;
  if (header.first_time >= range.begin && header.last_time < range.end) {
    if (!scratch.read_all(from, header, codecs, out)) return mismatch(chunk);
    return {};
  }
  const std::size_t count = header.count;
  scratch.times.resize(std::max(scratch.times.size(), count));
  scratch.bits.resize(std::max(scratch.bits.size(), count));
  const std::span<TimestampMs> times(scratch.times.data(), count);
  const IndexRange part = read_times_in(from, codecs.times, header.first_time, header.last_time,
                                        range, scratch.values.ints, times);
  if (!from.ok()) return damaged_chunk("its times do not match its header", chunk);
  if (part.begin == part.end) return {};
  scratch.floats.clear();
  const std::span<ValueBits> values(scratch.bits.data(), count);
  read_values(from, codecs.values, scratch.values, values, scratch.floats, part);
  if (!from.ok() || !from.left().empty()) return mismatch(chunk);
  const PointsView all = {times, values, scratch.floats.words(), 0};
  out.append(all.slice(part.begin, part.end - part.begin));
  return {};
}

Result<Header> read_header(BytesView chunk) {
  Reader from(chunk.substr(0, chunk.size() - std::min(chunk.size(), kCrc32cBytes)));
  Codecs codecs;
  return parse_header(chunk, from, codecs);
}

Result<void> check_crc(BytesView chunk) {
  if (chunk.size() < 2 + kCrc32cBytes) return damaged_chunk("too short", chunk);
  if (crc32c(chunk.substr(0, chunk.size() - kCrc32cBytes)) != stored_crc(chunk)) {
    return damaged_chunk("wrong CRC", chunk);
  }
  return {};
}

}  // namespace halite::storage::chunk
