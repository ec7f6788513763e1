#include "storage/tsdb/wal/column.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/bytes/little_endian.h"

namespace halite::storage::log_records {

namespace {

constexpr unsigned char kSteps = 0x80;

// Compares values as signed numbers, so that small negative values are close to small positive
// ones.
struct Span {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  void take(std::int64_t value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  [[nodiscard]] std::size_t width() const {
    const std::uint64_t range =
        static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    if (range == 0) return 0;
    if (range <= 0xFF) return 1;
    if (range <= 0xFFFF) return 2;
    return range <= 0xFFFFFFFF ? 4 : 8;
  }
};

template <class Value>
std::uint64_t step_before(std::span<const Value> values, std::size_t i) {
  return static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(values[i - 1]);
}

template <class Stored, class Value>
void store_plain(char* to, std::span<const Value> values, std::uint64_t base) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto stored = static_cast<Stored>(static_cast<std::uint64_t>(values[i]) - base);
    store_le(to + i * sizeof(Stored), stored);
  }
}

template <class Stored, class Value>
void store_steps(char* to, std::span<const Value> values, std::uint64_t step) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto stored = static_cast<Stored>(step_before(values, i) - step);
    store_le(to + (i - 1) * sizeof(Stored), stored);
  }
}

// Calls do_it with an integer of that width; not for width 0.
template <class Do>
void with_width(std::size_t width, Do do_it) {
  if (width == 1) do_it(std::uint8_t{});
  if (width == 2) do_it(std::uint16_t{});
  if (width == 4) do_it(std::uint32_t{});
  if (width == 8) do_it(std::uint64_t{});
}

// Appends `bytes` that fill(pointer) writes, without zeroing them first.
template <class Fill>
void append_filled(Bytes& to, std::size_t bytes, Fill fill) {
  const std::size_t old = to.size();
  // Ignore the size argument: GCC 12's string passes more than was requested.
  to.resize_and_overwrite(old + bytes, [&](char* data, std::size_t) {
    fill(data + old);
    return old + bytes;
  });
}

// ORs the upper bits of all values to detect one that does not fit.
template <class Value>
bool fits(std::uint64_t bits) {
  if constexpr (sizeof(Value) == sizeof(std::uint64_t)) return true;
  return bits <= std::numeric_limits<Value>::max();
}

template <class Stored, class Value>
bool load_plain(const char* from, std::uint64_t base, std::vector<Value>& values) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t value = base + load_le<Stored>(from + i * sizeof(Stored));
    bits |= value;
    values[i] = static_cast<Value>(value);
  }
  return fits<Value>(bits);
}

template <class Stored, class Value>
bool load_steps(const char* from, std::uint64_t base, std::uint64_t step,
                std::vector<Value>& values) {
  std::uint64_t value = base;
  std::uint64_t bits = base;
  values[0] = static_cast<Value>(value);
  for (std::size_t i = 1; i < values.size(); ++i) {
    value += step + load_le<Stored>(from + (i - 1) * sizeof(Stored));
    bits |= value;
    values[i] = static_cast<Value>(value);
  }
  return fits<Value>(bits);
}

template <class Value>
bool load_even(std::uint64_t base, std::uint64_t step, std::vector<Value>& values) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t value = base + step * i;
    bits |= value;
    values[i] = static_cast<Value>(value);
  }
  return fits<Value>(bits);
}

std::unexpected<Error> ends_early() {
  return fail(Errc::kCorruption, "a column of a log record ends early");
}

}  // namespace

template <class Value>
void append_column(Bytes& to, std::span<const Value> values) {
  if (values.empty()) return;
  Span plain;
  for (const Value value : values) plain.take(static_cast<std::int64_t>(value));
  Span steps;
  for (std::size_t i = 1; i < values.size(); ++i) {
    steps.take(static_cast<std::int64_t>(step_before(values, i)));
  }
  if (values.size() > 1 && steps.width() < plain.width()) {
    const std::size_t width = steps.width();
    const auto step = static_cast<std::uint64_t>(steps.least);
    to.push_back(static_cast<char>(kSteps | width));
    append_le(to, static_cast<std::uint64_t>(values[0]));
    append_le(to, step);
    append_filled(to, (values.size() - 1) * width, [&](char* at) {
      with_width(width, [&]<class Stored>(Stored) { store_steps<Stored>(at, values, step); });
    });
    return;
  }
  const std::size_t width = plain.width();
  const auto base = static_cast<std::uint64_t>(plain.least);
  to.push_back(static_cast<char>(width));
  append_le(to, base);
  append_filled(to, values.size() * width, [&](char* at) {
    with_width(width, [&]<class Stored>(Stored) { store_plain<Stored>(at, values, base); });
  });
}

template <class Value>
Result<void> read_column(BytesView& rest, std::size_t count, std::vector<Value>& values) {
  values.clear();
  if (count == 0) return {};
  if (rest.empty()) return ends_early();
  const auto head = static_cast<unsigned char>(rest.front());
  const bool has_steps = (head & kSteps) != 0;
  const std::size_t width = head & ~static_cast<unsigned>(kSteps);
  if (width > 8 || (width & (width - 1)) != 0)
    return fail(Errc::kCorruption, "a column of a log record has an impossible width");
  const std::size_t head_bytes = has_steps ? 17 : 9;
  const std::size_t stored = has_steps ? count - 1 : count;
  if (rest.size() < head_bytes || (rest.size() - head_bytes) < stored * width) return ends_early();
  const auto base = load_le<std::uint64_t>(rest.data() + 1);
  const std::uint64_t step = has_steps ? load_le<std::uint64_t>(rest.data() + 9) : 0;
  const char* const from = rest.data() + head_bytes;
  values.resize(count);
  bool good = true;
  if (width == 0) good = load_even(base, step, values);
  with_width(width, [&]<class Stored>(Stored) {
    good = has_steps ? load_steps<Stored>(from, base, step, values)
                     : load_plain<Stored>(from, base, values);
  });
  if (!good) return fail(Errc::kCorruption, "a column of a log record has a value out of range");
  rest.remove_prefix(head_bytes + stored * width);
  return {};
}

template void append_column(Bytes&, std::span<const std::uint8_t>);
template void append_column(Bytes&, std::span<const std::uint32_t>);
template void append_column(Bytes&, std::span<const std::int64_t>);
template void append_column(Bytes&, std::span<const std::uint64_t>);
template Result<void> read_column(BytesView&, std::size_t, std::vector<std::uint8_t>&);
template Result<void> read_column(BytesView&, std::size_t, std::vector<std::uint32_t>&);
template Result<void> read_column(BytesView&, std::size_t, std::vector<std::int64_t>&);
template Result<void> read_column(BytesView&, std::size_t, std::vector<std::uint64_t>&);

}  // namespace halite::storage::log_records
