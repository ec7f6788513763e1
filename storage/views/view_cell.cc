#include "storage/views/view_cell.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "common/bytes/varint.h"

namespace halite::storage {
namespace {

constexpr char kVersion = 1;
constexpr double kIntegerMax = 9007199254740992.0;  // 2^53
constexpr std::uint64_t kDoubleFollows = 1;

void append_number(Bytes& to, double number) {
  const bool negative_zero = number == 0 && std::signbit(number);
  if (std::abs(number) <= kIntegerMax && std::trunc(number) == number && !negative_zero) {
    const auto integer = static_cast<std::int64_t>(number);
    append_varint(to, zigzag(static_cast<std::uint64_t>(integer)) << 1);
    return;
  }
  append_varint(to, kDoubleFollows);
  append_be(to, std::bit_cast<std::uint64_t>(number));
}

std::optional<double> take_number(BytesView& rest) {
  const std::optional<std::uint64_t> first = take_varint(rest);
  if (!first) return std::nullopt;
  if ((*first & 1) == 0)
    return static_cast<double>(static_cast<std::int64_t>(unzigzag(*first >> 1)));
  if (*first != kDoubleFollows || rest.size() < sizeof(std::uint64_t)) return std::nullopt;
  const double number = std::bit_cast<double>(load_be<std::uint64_t>(rest.data()));
  rest.remove_prefix(sizeof(std::uint64_t));
  return number;
}

bool take_numbers(const ViewFunctions& functions, BytesView& rest, BucketTotals& bucket) {
  const auto take = [&rest](bool stored, double& to) {
    if (!stored) return true;
    const std::optional<double> number = take_number(rest);
    if (number) to = *number;
    return number.has_value();
  };
  if (!take(functions.sum, bucket.sum) || !take(functions.min, bucket.min) ||
      !take(functions.max, bucket.max)) {
    return false;
  }
  if (!functions.sketch) return true;
  std::optional<Sketch> sketch = Sketch::take(rest);
  if (!sketch || sketch->count() != bucket.count) return false;
  bucket.sketch = *std::move(sketch);
  return true;
}

}  // namespace

void BucketTotals::add(double number) {
  any = true;
  if (std::isnan(number)) return;
  ++count;
  sum += number;
  if (number < min) min = number;
  if (number > max) max = number;
}

void BucketTotals::add(const BucketTotals& more) {
  any = any || more.any;
  count += more.count;
  sum += more.sum;
  if (more.min < min) min = more.min;
  if (more.max > max) max = more.max;
  if (!more.sketch.empty()) sketch.add(more.sketch);
}

Bytes view_cell(const ViewFunctions& functions, std::span<const BucketTotals> unit) {
  Bytes cell;
  std::uint64_t skipped = 0;
  for (const BucketTotals& bucket : unit) {
    if (!bucket.any) {
      ++skipped;
      continue;
    }
    if (cell.empty()) cell.push_back(kVersion);
    append_varint(cell, skipped);
    append_varint(cell, bucket.count);
    if (functions.sum) append_number(cell, bucket.sum);
    if (functions.min) append_number(cell, bucket.min);
    if (functions.max) append_number(cell, bucket.max);
    if (functions.sketch) bucket.sketch.append_to(cell);
    skipped = 0;
  }
  return cell;
}

Result<void> parse_view_cell(const ViewFunctions& functions, BytesView cell,
                             std::span<BucketTotals> unit) {
  std::ranges::fill(unit, BucketTotals());
  const auto damaged = [] { return fail(Errc::kCorruption, "a cell of a view is damaged"); };
  if (cell.empty() || cell.front() != kVersion) return damaged();
  cell.remove_prefix(1);
  for (std::size_t at = 0; !cell.empty(); ++at) {
    const std::optional<std::uint64_t> skipped = take_varint(cell);
    const std::optional<std::uint64_t> count = skipped ? take_varint(cell) : std::nullopt;
    if (!count || *skipped >= unit.size() - at) return damaged();
    at += *skipped;
    BucketTotals& bucket = unit[at];
    bucket.any = true;
    bucket.count = *count;
    if (!take_numbers(functions, cell, bucket)) return damaged();
  }
  return {};
}

}  // namespace halite::storage
