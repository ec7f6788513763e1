#include "storage/cells/layouts/values/simple_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace halite::storage {
namespace {

constexpr std::size_t kBucketsMax = std::numeric_limits<std::int16_t>::max();
constexpr int kKryoLongBytesMax = 9;

// A number that orders floats like Float.compare.
std::int64_t rank(float value) {
  if (std::isnan(value)) return std::numeric_limits<std::int64_t>::max();
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits >= 0 ? bits : std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits - 1;
}

std::pair<std::int64_t, std::int64_t> rank(float lower, float upper) {
  return {rank(lower), rank(upper)};
}

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// The result of Java's intValue() for a count.
std::int32_t low_half(std::int64_t count) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(count)));
}

// Kryo's writeLong(): a variable-length number whose ninth byte has eight bits.
void append_kryo_long(Bytes& to, std::int64_t number) {
  auto left = static_cast<std::uint64_t>(number);
  for (int i = 1; i < kKryoLongBytesMax && left >= 0x80; ++i) {
    to.push_back(static_cast<char>((left & 0x7F) | 0x80));
    left >>= 7;
  }
  to.push_back(static_cast<char>(left));
}

void append_float(Bytes& to, float value) {
  append_be<std::uint32_t>(to, std::bit_cast<std::uint32_t>(value));
}

class Reader {
 public:
  explicit Reader(BytesView bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> number() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    const T value = load_be<T>(bytes_.data());
    bytes_.remove_prefix(sizeof(T));
    return value;
  }

  std::optional<float> single() {
    const auto bits = number<std::uint32_t>();
    if (!bits) return std::nullopt;
    return std::bit_cast<float>(*bits);
  }

  std::optional<std::int64_t> kryo_long() {
    std::uint64_t value = 0;
    for (int i = 0; i < kKryoLongBytesMax; ++i) {
      const auto byte = number<std::uint8_t>();
      if (!byte) return std::nullopt;
      const bool last = i + 1 == kKryoLongBytesMax;
      value |= static_cast<std::uint64_t>(last ? *byte : *byte & 0x7F) << (7 * i);
      if (last || *byte < 0x80) break;
    }
    return static_cast<std::int64_t>(value);
  }

 private:
  BytesView bytes_;
};

}  // namespace

std::vector<HistogramBucket>::iterator SimpleHistogram::place(float lower, float upper) {
  return std::ranges::lower_bound(
      buckets_, rank(lower, upper), {},
      [](const HistogramBucket& bucket) { return rank(bucket.lower, bucket.upper); });
}

Result<void> SimpleHistogram::set(float lower, float upper, std::int64_t count) {
  const auto at = place(lower, upper);
  if (at != buckets_.end() && rank(at->lower, at->upper) == rank(lower, upper)) {
    at->count = count;
    return {};
  }
  if (buckets_.size() >= kBucketsMax) {
    return fail(Errc::kTooLarge, fmt::format("a histogram holds at most {} buckets", kBucketsMax));
  }
  buckets_.insert(at, {.lower = lower, .upper = upper, .count = count});
  return {};
}

std::int64_t SimpleHistogram::count(float lower, float upper) const {
  const auto at = std::ranges::lower_bound(
      buckets_, rank(lower, upper), {},
      [](const HistogramBucket& bucket) { return rank(bucket.lower, bucket.upper); });
  if (at == buckets_.end() || rank(at->lower, at->upper) != rank(lower, upper)) return 0;
  return at->count;
}

Result<void> SimpleHistogram::add(const SimpleHistogram& other) {
  for (const HistogramBucket& bucket : other.buckets_) {
    TRY_VOID(set(bucket.lower, bucket.upper,
                 wrapping_sum(count(bucket.lower, bucket.upper), bucket.count)));
  }
  underflow = wrapping_sum(underflow, other.underflow);
  overflow = wrapping_sum(overflow, other.overflow);
  return {};
}

double SimpleHistogram::percentile(double percentile) const {
  if (!(percentile >= 1 && percentile <= 100)) return -1;
  std::uint32_t sum = 0;  // 32 bits, as in OpenTSDB
  for (const HistogramBucket& bucket : buckets_) {
    sum += static_cast<std::uint32_t>(low_half(bucket.count));
  }
  std::int64_t running = 0;
  for (const HistogramBucket& bucket : buckets_) {
    running += low_half(bucket.count);
    const double share = static_cast<double>(running) * 100 / static_cast<std::int32_t>(sum);
    if (share >= percentile) return static_cast<double>((bucket.lower + bucket.upper) / 2);
  }
  return 0;
}

void SimpleHistogram::append_to(Bytes& to) const {
  append_be<std::uint16_t>(to, static_cast<std::uint16_t>(buckets_.size()));
  for (const HistogramBucket& bucket : buckets_) {
    append_float(to, bucket.lower);
    append_float(to, bucket.upper);
    append_kryo_long(to, bucket.count);
  }
  append_kryo_long(to, underflow);
  append_kryo_long(to, overflow);
}

Result<SimpleHistogram> SimpleHistogram::read(BytesView bytes) {
  const auto too_short = [] { return fail(Errc::kCorruption, "Buffer underflow."); };
  Reader reader(bytes);
  SimpleHistogram histogram;
  const auto number = static_cast<std::int16_t>(reader.number<std::uint16_t>().value_or(0));
  for (int i = 0; i < number; ++i) {
    const auto lower = reader.single();
    const auto upper = reader.single();
    const auto count = reader.kryo_long();
    if (!lower || !upper || !count) return too_short();
    TRY_VOID(histogram.set(*lower, *upper, *count));
  }
  const auto under = reader.kryo_long();
  const auto over = reader.kryo_long();
  if (!under || !over) return too_short();
  histogram.underflow = *under;
  histogram.overflow = *over;
  return histogram;
}

std::string pretty_bytes(BytesView bytes) {
  std::size_t readable = 0;
  std::string text = "\"";
  for (const char byte : bytes) {
    if (byte >= ' ' && byte <= '~') {
      ++readable;
      text += byte;
    } else if (byte == '\n') {
      text += "\\n";
    } else if (byte == '\t') {
      text += "\\t";
    } else {
      text += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    }
  }
  if (readable >= bytes.size() / 2) return text + '"';
  text = "[";
  for (const char byte : bytes) {
    if (text.size() > 1) text += ", ";
    text += fmt::format("{}", static_cast<int>(static_cast<signed char>(byte)));
  }
  return text + ']';
}

}  // namespace halite::storage
