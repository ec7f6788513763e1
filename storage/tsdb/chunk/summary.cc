#include "storage/tsdb/chunk/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "common/bytes/crc32c.h"
#include "common/check.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/codecs/decimal_floats.h"
#include "storage/tsdb/chunk/codecs/full_doubles.h"
#include "storage/tsdb/chunk/codecs/rice_column.h"
#include "storage/tsdb/chunk/codecs/wire.h"
#include "storage/tsdb/chunk/statistics.h"

namespace halite::storage::chunk {
namespace {

constexpr std::uint8_t kSummaryVersion = 1;
// The second byte: the exponent in bits 0 to 3, then these flags.
constexpr std::uint8_t kScaled = 0x10;
constexpr std::uint8_t kHasDecodeOnly = 0x20;
// Upper bound of sums of mantissas.
constexpr std::uint64_t kScaledMax = std::uint64_t{1} << 62;
// Upper bound of mantissas that are divided: each is a double.
constexpr std::uint64_t kDividedMax = std::uint64_t{1} << 53;

// The spans as columns. Numbers are mantissas if scaled, otherwise ordered doubles. Spans that are
// decode_only have no numbers.
struct Columns {
  bool scaled = false;
  unsigned exponent = 0;
  std::vector<std::uint64_t> gaps;  // spans between two entries; one fewer than spans
  std::vector<std::uint64_t> counts;
  std::vector<bool> decode_only;
  std::vector<std::uint64_t> mins;
  std::vector<std::uint64_t> ranges;  // max - min
  std::vector<std::uint64_t> sums;    // minus expected_sum()
};

std::int64_t floor_divide(std::int64_t dividend, std::int64_t divisor) {
  const std::int64_t quotient = dividend / divisor;
  return quotient - (dividend % divisor < 0 ? 1 : 0);
}

// The estimated sum. Modulo 2^64, so it is defined for any numbers.
std::uint64_t expected_sum(std::uint64_t count, std::uint64_t min, std::uint64_t max) {
  return min * count + (max - min) / 2 * count;
}
std::uint64_t expected_double_sum(std::uint64_t count, double min, double max) {
  // Separate statements, so that no compiler fuses them and all machines compute the same bits.
  const double least = min / 2;
  const double most = max / 2;
  const double middle = least + most;
  const double sum = middle * static_cast<double>(count);
  return ordered_double(double_bits(sum));
}

struct ScaledTotals {
  std::int64_t sum = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
};

// As scaled_total(), for doubles.
std::optional<ScaledTotals> scaled_total_of_doubles(std::span<const ValueBits> values,
                                                    double power) {
  constexpr std::size_t kBlock = 128;
  std::array<std::uint64_t, kBlock> mantissas;
  ScaledTotals totals{.min = INT64_MAX, .max = INT64_MIN};
  for (std::size_t i = 0; i < values.size(); i += kBlock) {
    const auto block = values.subspan(i, std::min(kBlock, values.size() - i));
    if (!to_mantissas(block, power, mantissas.data())) return std::nullopt;
    std::int64_t sum = 0;  // of at most 128 mantissas, each below 2^51
    for (const std::uint64_t one : std::span(mantissas).first(block.size())) {
      const auto mantissa = static_cast<std::int64_t>(one);
      totals.min = std::min(totals.min, mantissa);
      totals.max = std::max(totals.max, mantissa);
      sum += mantissa;
    }
    if (__builtin_add_overflow(totals.sum, sum, &totals.sum)) return std::nullopt;
  }
  return totals;
}

// Nothing if a value is not a mantissa of that exponent, or if the sum might overflow.
std::optional<ScaledTotals> scaled_total(PointsView points, unsigned exponent) {
  const double power = kPowersOfTen[exponent];
  if (points.float_count() == points.size()) return scaled_total_of_doubles(points.values, power);
  const auto whole_power = static_cast<std::int64_t>(power);
  const std::uint64_t mantissa_max =
      std::min(kScaledMax / points.size(), exponent == 0 ? kScaledMax : kDividedMax);
  const std::int64_t integer_max = static_cast<std::int64_t>(mantissa_max) / whole_power;
  ScaledTotals totals;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::int64_t mantissa = 0;
    if (points.is_float(i)) {
      const Mantissa one = to_mantissa(as_double(points.values[i]), power);
      if (!one.exact) return std::nullopt;
      mantissa = static_cast<std::int64_t>(one.mantissa);
    } else {
      const std::int64_t integer = as_integer(points.values[i]);
      if (integer > integer_max || integer < -integer_max) return std::nullopt;
      mantissa = integer * whole_power;
    }
    totals.min = i == 0 ? mantissa : std::min(totals.min, mantissa);
    totals.max = i == 0 ? mantissa : std::max(totals.max, mantissa);
    // Mantissas are below 2^51 and there are at most 2^17 points, so a sum can reach almost 2^68:
    // check each addition.
    if (__builtin_add_overflow(totals.sum, mantissa, &totals.sum)) return std::nullopt;
  }
  return totals;
}

struct Span {
  std::int64_t index = 0;
  PointsView points;
};

std::vector<Span> spans_of(PointsView points, std::int64_t span_ms) {
  std::vector<Span> spans;
  for (std::size_t begin = 0; begin < points.size();) {
    const TimestampMs first = points.times[begin];
    const std::int64_t index = floor_divide(first, span_ms);
    // From the first point to the end of its span. Modulo 2^64, so nothing overflows.
    const std::uint64_t left =
        (static_cast<std::uint64_t>(index) + 1) * static_cast<std::uint64_t>(span_ms) -
        static_cast<std::uint64_t>(first);
    std::size_t end = begin + 1;
    while (end < points.size() &&
           static_cast<std::uint64_t>(points.times[end]) - static_cast<std::uint64_t>(first) <
               left) {
      ++end;
    }
    spans.push_back({index, points.slice(begin, end - begin)});
    begin = end;
  }
  return spans;
}

// Fills the columns with mantissas; false if some span that is not decode_only has none.
bool fill_scaled(const std::vector<Span>& spans, Columns& columns) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto totals = scaled_total(spans[i].points, columns.exponent);
    columns.decode_only[i] = !totals && !total(spans[i].points).finite;
    if (columns.decode_only[i]) continue;
    if (!totals) return false;
    const auto min = static_cast<std::uint64_t>(totals->min);
    const auto max = static_cast<std::uint64_t>(totals->max);
    columns.mins.push_back(min);
    columns.ranges.push_back(max - min);
    columns.sums.push_back(static_cast<std::uint64_t>(totals->sum) -
                           expected_sum(columns.counts[i], min, max));
  }
  return true;
}

void fill_doubles(const std::vector<Span>& spans, Columns& columns) {
  columns.mins.clear();
  columns.ranges.clear();
  columns.sums.clear();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Totals one = total(spans[i].points);
    columns.decode_only[i] = !one.finite;
    if (!one.finite) continue;
    const std::uint64_t min = ordered_double(double_bits(one.min));
    columns.mins.push_back(min);
    columns.ranges.push_back(ordered_double(double_bits(one.max)) - min);
    columns.sums.push_back(ordered_double(double_bits(one.sum)) -
                           expected_double_sum(one.count, one.min, one.max));
  }
}

Columns columns_of(PointsView points, const std::vector<Span>& spans) {
  Columns columns;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i > 0) {
      columns.gaps.push_back(static_cast<std::uint64_t>(spans[i].index) -
                             static_cast<std::uint64_t>(spans[i - 1].index) - 1);
    }
    columns.counts.push_back(spans[i].points.size());
  }
  columns.decode_only.assign(spans.size(), false);
  const std::optional<unsigned> exponent =
      points.float_count() == 0 ? std::optional(0u) : decimal_exponent(points);
  columns.exponent = exponent.value_or(0);
  columns.scaled = exponent && fill_scaled(spans, columns);
  if (!columns.scaled) {
    columns.exponent = 0;
    fill_doubles(spans, columns);
  }
  return columns;
}

// Writes the first number and the differences from the previous one.
void put_differences(std::vector<std::uint64_t> numbers, BitWriter& to) {
  for (std::size_t i = numbers.size(); i-- > 1;) numbers[i] -= numbers[i - 1];
  if (numbers.empty()) return;
  put_rice_column(std::span(numbers).first(1), to);
  put_rice_column(std::span(numbers).subspan(1), to);
}

void get_differences(BitReader& from, std::span<std::uint64_t> numbers) {
  if (numbers.empty()) return;
  get_rice_column(from, numbers.first(1));
  get_rice_column(from, numbers.subspan(1));
  for (std::size_t i = 1; i < numbers.size(); ++i) numbers[i] += numbers[i - 1];
}

std::unexpected<Error> damaged_summaries(const char* what) {
  return fail(Errc::kCorruption, std::string("summaries: ") + what);
}

// Converts the numbers of a span to doubles; false if no encoder writes them.
bool undo_numbers(const Columns& columns, std::size_t i, SpanSummary& span) {
  const std::uint64_t min = columns.mins[i];
  const std::uint64_t max = min + columns.ranges[i];
  if (!columns.scaled) {
    span.min = as_double(ordered_double(min));
    span.max = as_double(ordered_double(max));
    const std::uint64_t sum = columns.sums[i] + expected_double_sum(span.count, span.min, span.max);
    span.sum = as_double(ordered_double(sum));
    return std::isfinite(span.min) && std::isfinite(span.max) && std::isfinite(span.sum);
  }
  const std::uint64_t sum = columns.sums[i] + expected_sum(span.count, min, max);
  const double power = kPowersOfTen[columns.exponent];
  span.min = static_cast<double>(static_cast<std::int64_t>(min)) / power;
  span.max = static_cast<double>(static_cast<std::int64_t>(max)) / power;
  span.sum = static_cast<double>(static_cast<std::int64_t>(sum)) / power;
  const double most = std::max(std::fabs(span.min), std::fabs(span.max));
  span.sum_exact = columns.exponent == 0 && most * span.count <= 0x1p53;
  return span.min <= span.max;
}

bool read_columns(BytesView bytes, bool has_decode_only, std::size_t count, Columns& columns) {
  BitReader bits(bytes);
  columns.gaps.resize(count - 1);
  columns.counts.resize(count);
  columns.decode_only.assign(count, false);
  get_rice_column(bits, columns.gaps);
  get_rice_column(bits, columns.counts);
  std::size_t with_numbers = count;
  for (std::size_t i = 0; has_decode_only && i < count; ++i) {
    columns.decode_only[i] = bits.get(1) == 1;
    with_numbers -= columns.decode_only[i] ? 1 : 0;
  }
  columns.mins.resize(with_numbers);
  columns.ranges.resize(with_numbers);
  columns.sums.resize(with_numbers);
  get_differences(bits, columns.mins);
  get_rice_column(bits, columns.ranges);
  get_rice_column(bits, columns.sums);
  return bits.ok() && bits.bytes_used() == bytes.size();
}

Result<void> spans_from(const Columns& columns, std::int64_t first, Summaries& made) {
  const std::int64_t span_ms = made.span_ms;
  made.spans.clear();
  made.spans.reserve(columns.counts.size());
  std::int64_t index = first;
  std::size_t number = 0;
  for (std::size_t i = 0; i < columns.counts.size(); ++i) {
    if (i > 0) {
      const std::uint64_t gap = columns.gaps[i - 1];
      if (gap >= kScaledMax ||
          __builtin_add_overflow(index, static_cast<std::int64_t>(gap) + 1, &index)) {
        return damaged_summaries("bad gap");
      }
    }
    SpanSummary span;
    if (__builtin_mul_overflow(index, span_ms, &span.begin)) return damaged_summaries("bad time");
    if (columns.counts[i] == 0 || columns.counts[i] > kChunkPointsMax) {
      return damaged_summaries("bad count");
    }
    span.count = static_cast<std::uint32_t>(columns.counts[i]);
    span.decode_only = columns.decode_only[i];
    if (!span.decode_only && !undo_numbers(columns, number++, span)) {
      return damaged_summaries("bad numbers");
    }
    made.spans.push_back(span);
  }
  return {};
}

Result<void> decode_into(BytesView bytes, Columns& columns, Summaries& made) {
  if (bytes.size() < 2 + kCrc32cBytes) return damaged_summaries("too short");
  const BytesView checked = bytes.substr(0, bytes.size() - kCrc32cBytes);
  if (crc32c(checked) != load_be<std::uint32_t>(bytes.data() + checked.size())) {
    return damaged_summaries("wrong CRC");
  }
  Reader from(checked);
  const std::uint8_t version = from.byte();
  if (version != kSummaryVersion) {
    return fail(Errc::kUnsupported, "unsupported summary version " + std::to_string(version) +
                                        "; this version of Halite reads version 1");
  }
  const std::uint8_t flags = from.byte();
  columns.exponent = flags & 0x0Fu;
  columns.scaled = (flags & kScaled) != 0;
  const std::uint64_t span_ms = from.varint();
  const std::uint64_t count = from.varint();
  const auto first = static_cast<std::int64_t>(from.signed_varint());
  if (!from.ok() || flags > (kScaled | kHasDecodeOnly | 0x0F) || span_ms == 0 ||
      span_ms > static_cast<std::uint64_t>(INT64_MAX) || count >= kSummarySpansMax ||
      !read_columns(from.left(), (flags & kHasDecodeOnly) != 0, count + 1, columns)) {
    return damaged_summaries("its columns do not match its header");
  }
  made.span_ms = static_cast<std::int64_t>(span_ms);
  return spans_from(columns, first, made);
}

}  // namespace

void encode_summaries(PointsView points, std::int64_t span_ms, Bytes& out) {
  HALITE_CHECK(points.size() > 0 && points.size() <= kChunkPointsMax,
               "a chunk must have 1 to 2^17 points");
  HALITE_CHECK(span_ms > 0, "a span of some length");
  const std::vector<Span> spans = spans_of(points, span_ms);
  HALITE_CHECK(spans.size() <= kSummarySpansMax, "too many spans for one summary");
  const Columns columns = columns_of(points, spans);
  const std::size_t begin = out.size();
  const bool has_decode_only =
      std::ranges::find(columns.decode_only, true) != columns.decode_only.end();
  out.push_back(static_cast<char>(kSummaryVersion));
  out.push_back(static_cast<char>(columns.exponent | (columns.scaled ? kScaled : 0u) |
                                  (has_decode_only ? kHasDecodeOnly : 0u)));
  append_varint(out, static_cast<std::uint64_t>(span_ms));
  append_varint(out, spans.size() - 1);
  append_signed(out, static_cast<std::uint64_t>(spans.front().index));
  BitWriter bits(out);
  put_rice_column(columns.gaps, bits);
  put_rice_column(columns.counts, bits);
  for (std::size_t i = 0; has_decode_only && i < spans.size(); ++i) {
    bits.put(columns.decode_only[i] ? 1 : 0, 1);
  }
  put_differences(columns.mins, bits);
  put_rice_column(columns.ranges, bits);
  put_rice_column(columns.sums, bits);
  bits.finish();
  append_be(out, crc32c(BytesView(out).substr(begin)));
}

Result<Summaries> decode_summaries(BytesView bytes) {
  Columns columns;
  Summaries made;
  TRY_VOID(decode_into(bytes, columns, made));
  return made;
}

struct SummaryDecoder::Room {
  Columns columns;
  Summaries made;
};

SummaryDecoder::SummaryDecoder() : room_(std::make_unique<Room>()) {}
SummaryDecoder::~SummaryDecoder() = default;

Result<const Summaries*> SummaryDecoder::decode(BytesView bytes) {
  TRY_VOID(decode_into(bytes, room_->columns, room_->made));
  return &room_->made;
}

}  // namespace halite::storage::chunk
