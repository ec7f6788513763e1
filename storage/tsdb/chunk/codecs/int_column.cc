#include "storage/tsdb/chunk/codecs/int_column.h"

#include <algorithm>
#include <numeric>

#include <zstd.h>

#include "common/check.h"
#include "storage/tsdb/chunk/codecs/int_plan.h"
#include "storage/tsdb/chunk/codecs/packed_ints.h"

namespace halite::storage::chunk {
namespace {

// The first byte: transform in bits 0 and 1, coder in 2 to 4, 32 for a divisor.
constexpr std::uint8_t kDivided = 0x20;
constexpr std::uint8_t kHeadMax = 0x3F;

constexpr int kZstdLevel = 3;
// Numbers in a segment of the entropy coder: eight hours at one point in 10 s. Each segment costs
// about 20 bytes.
constexpr std::size_t kSegment = 2880;

// The greatest common divisor of all distances: usually 1; 1000 for whole seconds in milliseconds;
// 2^29 for singles among doubles; 0 if all are zero.
std::uint64_t common_divisor(std::span<const std::uint64_t> distances) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // divisors are signed
  std::uint64_t divisor = 0;
  for (const std::uint64_t distance : distances) {
    const std::uint64_t size = std::min(distance, std::uint64_t{0} - distance);
    if (divisor == 0 || size % divisor != 0) divisor = std::gcd(divisor, size);
    if (divisor == 1) return 1;
  }
  return divisor > kMost ? 1 : divisor;
}

void undo_differ(std::span<std::uint64_t> numbers) {
  std::uint64_t number = numbers[0];
  for (std::size_t i = 1; i < numbers.size(); ++i) numbers[i] = number += numbers[i];
}

// Returns a view of scratch memory.
BytesView compress(std::span<const std::uint64_t> residuals, IntScratch& scratch) {
  if (!scratch.compressor) scratch.compressor.reset(ZSTD_createCCtx());
  HALITE_CHECK(scratch.compressor != nullptr, "no memory for zstd");
  scratch.frame.resize(ZSTD_compressBound(residuals.size_bytes()));
  const std::size_t size =
      ZSTD_compressCCtx(scratch.compressor.get(), scratch.frame.data(), scratch.frame.size(),
                        residuals.data(), residuals.size_bytes(), kZstdLevel);
  HALITE_CHECK(ZSTD_isError(size) == 0, "zstd could not compress to its own bound");
  return BytesView(scratch.frame).substr(0, size);
}

void read_zstd(Reader& from, IntScratch& scratch, std::span<std::uint64_t> residuals) {
  const BytesView packed = from.take(from.varint());
  if (!from.ok()) return;
  if (!scratch.decompressor) scratch.decompressor.reset(ZSTD_createDCtx());
  HALITE_CHECK(scratch.decompressor != nullptr, "no memory for zstd");
  // Never writes past `residuals`, whatever size the frame declares.
  const std::size_t size =
      ZSTD_decompressDCtx(scratch.decompressor.get(), residuals.data(), residuals.size_bytes(),
                          packed.data(), packed.size());
  if (ZSTD_isError(size) != 0 || size != residuals.size_bytes()) from.set_bad();
}

// Packs in blocks or with one width for all.
Coder append_bits(std::span<const std::uint64_t> residuals, Bytes& out) {
  const std::size_t begin = out.size();
  append_packed(residuals, out);
  if (flat_size(residuals) > out.size() - begin) return Coder::kPacked;
  out.resize(begin);
  append_flat(residuals, out);
  return Coder::kFlat;
}

// The two numbers before a segment's first residual; its transform needs `order` of them.
struct Carry {
  std::uint64_t number = 0;      // distance from the first number of the column, divided
  std::uint64_t difference = 0;  // from the previous number
};

// The carries of all segments but the first, before the transform.
std::vector<Carry> carries(std::span<const std::uint64_t> distances, std::size_t order) {
  std::vector<Carry> found;
  for (std::size_t i = kSegment; i + order < distances.size(); i += kSegment) {
    const std::size_t at = i + order - 1;  // order 0 needs none, and at > 0 anyway
    found.push_back({.number = distances[at], .difference = distances[at] - distances[at - 1]});
  }
  return found;
}

void append_segments(const Plan& plan, std::span<const std::uint64_t> residuals,
                     const std::vector<Carry>& before, EntropyScratch& scratch, Bytes& out) {
  append_varint(out, kSegment);
  std::uint64_t last = 0;
  for (const Carry& carry : before) {
    if (plan.transform == Transform::kNone) break;
    append_signed(out, carry.number - last);
    last = carry.number;
    if (plan.transform == Transform::kDelta2) append_signed(out, carry.difference);
  }
  append_entropy_segments(residuals, plan.shape, kSegment, scratch, out);
}

// The residuals of the segments that a part needs, and the carry before them.
struct SegmentsRead {
  std::size_t begin = 0;  // of the residuals; the entry there may be a sum up to it
  std::size_t end = 0;
  Carry before;  // empty for the first segment
};

// Residuals up to the last that a part needs, at least one.
std::size_t residuals_wanted(IndexRange part, std::size_t order,
                             std::span<const std::uint64_t> residuals) {
  const std::size_t end = std::min(part.end, residuals.size() + order);
  return end <= order ? 1 : end - order;
}

// How many residuals from `begin` on are wanted only as a sum: those before the part, if each
// number is the previous one plus a residual.
std::size_t residuals_summed(IndexRange part, std::size_t order, std::size_t begin,
                             std::size_t end) {
  return order == 1 && part.begin > begin ? std::min(part.begin, end) - begin : 0;
}

SegmentsRead read_segments(Reader& from, std::size_t order, IndexRange part,
                           EntropyScratch& scratch, std::span<std::uint64_t> residuals) {
  const std::uint64_t segment = from.varint();
  if (segment == 0 || segment > residuals.size()) from.set_bad();
  if (!from.ok()) return {};
  const std::size_t segments = (residuals.size() + segment - 1) / segment;
  const std::size_t first = part.begin < order ? 0 : (part.begin - order) / segment;
  SegmentsRead read{
      .begin = first * segment, .end = residuals_wanted(part, order, residuals), .before = {}};
  read.end = std::max(read.end, read.begin + 1);
  std::uint64_t number = 0;
  for (std::size_t i = 1; i < segments && order > 0; ++i) {
    number += from.signed_varint();
    const std::uint64_t difference = order == 2 ? from.signed_varint() : 0;
    if (i == first) read.before = {.number = number, .difference = difference};
  }
  const std::size_t summed = residuals_summed(part, order, read.begin, read.end);
  read_entropy_segments(from,
                        {.segment = segment, .begin = first, .end = read.end, .summed = summed},
                        scratch, residuals);
  if (summed > 0) read.begin += summed - 1;
  return read;
}

// Appends the residuals by the planned coder, or by one that turns out smaller. Returns the coder.
Coder append_residuals(const Plan& plan, std::span<const std::uint64_t> residuals,
                       const std::vector<Carry>& before, bool small, IntScratch& scratch,
                       Bytes& out) {
  if (all_equal(residuals)) {
    append_signed(out, residuals.empty() ? 0 : residuals[0]);
    return Coder::kConstant;
  }
  if (!small || residuals.size() < kEntropyMin) return append_bits(residuals, out);
  const std::size_t begin = out.size();
  Coder coder = plan.coder;
  if (coder == Coder::kEntropy) {
    if (residuals.size() > kSegment) {
      coder = Coder::kSegments;
      append_segments(plan, residuals, before, scratch.entropy, out);
    } else {
      append_entropy(residuals, plan.shape, scratch.entropy, out);
    }
    // Prefer packed numbers, which decode several times as fast.
    const std::size_t most = (out.size() - begin) + (out.size() - begin) / 64;
    if (plan.packs && std::min(estimate_packed(residuals), flat_size(residuals)) < most) {
      out.resize(begin);
      coder = Coder::kPacked;
    }
  }
  if (coder == Coder::kPacked) coder = append_bits(residuals, out);
  if (plan.repeats) {
    const BytesView frame = compress(residuals, scratch);
    if (frame.size() + varint_size(frame.size()) < (out.size() - begin) * 15 / 16) {
      out.resize(begin);
      append_varint(out, frame.size());
      out.append(frame);
      coder = Coder::kZstd;
    }
  }
  return coder;
}

void read_residuals(Coder coder, Reader& from, IntScratch& scratch,
                    std::span<std::uint64_t> residuals) {
  switch (coder) {
    case Coder::kConstant:
      std::ranges::fill(residuals, from.signed_varint());
      break;
    case Coder::kPacked:
      read_packed(from, residuals);
      break;
    case Coder::kFlat:
      read_flat(from, residuals);
      break;
    case Coder::kZstd:
      read_zstd(from, scratch, residuals);
      break;
    case Coder::kEntropy:  // allows partial reads
    case Coder::kSegments:
      from.set_bad();
      break;
  }
}

// Sets `to` to the distances of all numbers from the first, divided by their common divisor.
// Returns the divisor; 1 if there is none.
std::uint64_t distances(std::span<const std::uint64_t> numbers, std::vector<std::uint64_t>& to) {
  to.resize(numbers.size());
  const std::uint64_t first = numbers[0];
  for (std::size_t i = 0; i < numbers.size(); ++i) to[i] = numbers[i] - first;
  const std::uint64_t divisor = common_divisor(to);
  if (divisor <= 1) return 1;
  for (std::uint64_t& distance : to) {
    distance = static_cast<std::uint64_t>(static_cast<std::int64_t>(distance) /
                                          static_cast<std::int64_t>(divisor));
  }
  return divisor;
}

}  // namespace

void ZstdFree::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void ZstdFree::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

void append_ints(std::span<const std::uint64_t> numbers, bool small, IntScratch& scratch,
                 Bytes& out) {
  HALITE_CHECK(!numbers.empty(), "a column of no numbers");
  const std::uint64_t divisor = distances(numbers, scratch.distances);
  const std::span<std::uint64_t> distances = scratch.distances;
  const Plan plan = make_plan(distances, small, scratch);
  const std::size_t order = order_of(plan.transform);
  std::uint64_t first_step = 0;
  const std::vector<Carry> before = small ? carries(distances, order) : std::vector<Carry>();
  for (std::size_t i = 0; i < order; ++i) {
    if (i == 1) first_step = distances[1];
    differ(distances.subspan(i));
  }
  const auto residuals = distances.subspan(order);
  const std::size_t begin = out.size();
  out.push_back(0);
  append_signed(out, numbers[0]);
  if (divisor > 1) append_varint(out, divisor);
  if (order == 2) append_signed(out, first_step);
  const Coder coder = append_residuals(plan, residuals, before, small, scratch, out);
  scratch.segmented |= coder == Coder::kSegments;
  out[begin] = static_cast<char>(static_cast<unsigned>(plan.transform) |
                                 static_cast<unsigned>(coder) << 2 | (divisor > 1 ? kDivided : 0u));
}

std::size_t estimate_ints(std::span<const std::uint64_t> numbers, bool small, IntScratch& scratch) {
  distances(numbers, scratch.distances);
  return static_cast<std::size_t>(make_plan(scratch.distances, small, scratch).bytes) + 4;
}

namespace {

struct ColumnHead {
  std::size_t order = 0;
  std::uint64_t first = 0;
  std::uint64_t divisor = 1;
  std::uint64_t first_step = 0;  // divided
};

void read_segmented(Reader& from, const ColumnHead& head, IndexRange part, IntScratch& scratch,
                    std::span<std::uint64_t> numbers) {
  const auto residuals = numbers.subspan(head.order);
  const SegmentsRead read = read_segments(from, head.order, part, scratch.entropy, residuals);
  if (!from.ok()) return;
  const auto to_number = [&head](std::uint64_t distance) {
    return head.first + distance * head.divisor;
  };
  Carry carry = read.before;
  if (read.begin == 0) {
    if (head.order > 0) numbers[0] = head.first;
    if (head.order == 2) {
      carry = {.number = head.first_step, .difference = head.first_step};
      numbers[1] = to_number(head.first_step);
    }
  }
  const auto some = residuals.subspan(read.begin, read.end - read.begin);
  if (head.order == 0) {
    for (std::uint64_t& number : some) number = to_number(number);
  } else if (head.order == 1) {
    std::uint64_t distance = carry.number;
    for (std::uint64_t& number : some) number = to_number(distance += number);
  } else {
    for (std::uint64_t& number : some) {
      carry.difference += number;
      carry.number += carry.difference;
      number = to_number(carry.number);
    }
  }
}

}  // namespace

void read_ints(Reader& from, IntScratch& scratch, std::span<std::uint64_t> numbers,
               IndexRange part) {
  const std::uint8_t head_byte = from.byte();
  const auto coder = static_cast<Coder>(head_byte >> 2 & 7u);
  const bool divided = (head_byte & kDivided) != 0;
  ColumnHead head;
  head.order = head_byte & 3u;
  head.first = from.signed_varint();
  if (divided) head.divisor = from.varint();
  if (head.order == 2) head.first_step = from.signed_varint();
  if (head_byte > kHeadMax || coder > Coder::kSegments || head.order > 2 ||
      head.order > numbers.size()) {
    from.set_bad();
  }
  if (!from.ok()) return;
  if (coder == Coder::kSegments) return read_segmented(from, head, part, scratch, numbers);
  auto residuals = numbers.subspan(head.order);
  if (coder == Coder::kEntropy && !residuals.empty()) {
    // The rest is not needed.
    const std::size_t wanted = residuals_wanted(part, head.order, residuals);
    const std::size_t summed = residuals_summed(part, head.order, 0, wanted);
    read_entropy(from, scratch.entropy, residuals, wanted, summed);
    // The sum of the skipped residuals counts as one step.
    const std::size_t skipped = summed > 0 ? summed - 1 : 0;
    residuals = residuals.subspan(skipped, wanted - skipped);
    numbers = numbers.subspan(skipped, head.order + wanted - skipped);
  } else if (!residuals.empty()) {
    read_residuals(coder, from, scratch, residuals);
  }
  if (!from.ok()) return;
  // Undoes the last transform first. The first number of each is stored separately.
  if (head.order == 2) {
    numbers[1] = head.first_step;
    undo_differ(numbers.subspan(1));
  }
  if (divided) {
    for (std::uint64_t& number : residuals) number *= head.divisor;
    if (head.order == 2) numbers[1] *= head.divisor;
  }
  if (head.order > 0) {
    numbers[0] = head.first;
    undo_differ(numbers);
  } else {
    for (std::uint64_t& number : numbers) number += head.first;
  }
}

}  // namespace halite::storage::chunk
