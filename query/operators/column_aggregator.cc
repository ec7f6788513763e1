#include "query/operators/column_aggregator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "query/operators/accumulator.h"
#include "query/operators/limits_of_double.h"

namespace halite::query {
namespace {

using enum AggregatorKind;

// Positions aggregated together: their totals fit in the first-level cache.
constexpr std::size_t kPlaces = 512;

// Adds every member's values to the totals of `count` positions from `from` on.
template <class T, class Add>
void add_columns(std::span<const ValueBits* const> columns, std::size_t from, std::span<T> totals,
                 T zero, Add add) {
  const std::size_t count = totals.size();
  std::ranges::fill(totals, zero);
  for (const ValueBits* const column : columns) {
    for (std::size_t i = 0; i < count; ++i) totals[i] = add(totals[i], column[from + i]);
  }
}

// Sums that wrap, as the aggregator's integer arithmetic does.
std::uint64_t add_bits(std::uint64_t total, ValueBits value) { return total + value; }

bool sums_integers(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                   std::size_t from, std::size_t count, std::vector<ValueBits>& out) {
  if (aggregator.kind != kSum && aggregator.kind != kAvg) return false;
  std::array<std::uint64_t, kPlaces> room;  // uninitialized
  const std::span totals = std::span(room).first(count);
  add_columns<std::uint64_t>(columns, from, totals, 0, add_bits);
  const auto members = static_cast<std::int64_t>(columns.size());
  for (const std::uint64_t total : totals) {
    out.push_back(aggregator.kind == kSum ? total : integer_bits(as_integer(total) / members));
  }
  return true;
}

bool extreme_integers(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                      std::size_t from, std::size_t count, std::vector<ValueBits>& out) {
  std::array<std::int64_t, kPlaces> room;  // uninitialized
  const std::span totals = std::span(room).first(count);
  if (aggregator.kind == kMin) {
    add_columns(
        columns, from, totals, std::numeric_limits<std::int64_t>::max(),
        [](std::int64_t total, ValueBits value) { return std::min(total, as_integer(value)); });
  } else if (aggregator.kind == kMax) {
    add_columns(
        columns, from, totals, std::numeric_limits<std::int64_t>::min(),
        [](std::int64_t total, ValueBits value) { return std::max(total, as_integer(value)); });
  } else {
    return false;
  }
  std::ranges::transform(totals, std::back_inserter(out), integer_bits);
  return true;
}

// Ignores NaN; a position with only NaN is NaN.
bool sums_doubles(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                  std::size_t from, std::size_t count, std::vector<ValueBits>& out) {
  const bool sum = aggregator.kind == kSum;
  if (!sum && aggregator.kind != kAvg && aggregator.kind != kCount) return false;
  std::array<double, kPlaces> totals;   // uninitialized
  std::array<double, kPlaces> numbers;  // values that are not NaN: exact up to 2^53
  std::fill_n(totals.begin(), count, 0.0);
  std::fill_n(numbers.begin(), count, 0.0);
  for (const ValueBits* const column : columns) {
    for (std::size_t i = 0; i < count; ++i) {
      const double value = as_double(column[from + i]);
      const bool number = value == value;
      totals[i] += number ? value : 0.0;
      numbers[i] += number ? 1.0 : 0.0;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (aggregator.kind == kCount) {
      out.push_back(double_bits(numbers[i]));
    } else if (numbers[i] == 0) {
      out.push_back(double_bits(kNan));
    } else {
      out.push_back(double_bits(sum ? totals[i] : totals[i] / numbers[i]));
    }
  }
  return true;
}

bool extreme_doubles(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                     std::size_t from, std::size_t count, std::vector<ValueBits>& out) {
  std::array<double, kPlaces> room;  // uninitialized
  const std::span totals = std::span(room).first(count);
  double zero = 0;
  if (aggregator.kind == kMin) {
    zero = kInfinity;
    add_columns(columns, from, totals, zero, [](double total, ValueBits bits) {
      const double value = as_double(bits);
      return value < total ? value : total;
    });
  } else if (aggregator.kind == kMax) {
    zero = -kInfinity;
    add_columns(columns, from, totals, zero, [](double total, ValueBits bits) {
      const double value = as_double(bits);
      return value > total ? value : total;
    });
  } else {
    return false;
  }
  for (const double total : totals) out.push_back(double_bits(total == zero ? kNan : total));
  return true;
}

// Makes room for the values of a run; many short runs must not copy all values each time.
void make_room(std::vector<ValueBits>& out, std::size_t more) {
  const std::size_t size = out.size() + more;
  if (size > out.capacity()) out.reserve(std::max(size, 2 * out.size()));
}

}  // namespace

void ColumnAggregator::integers(const Aggregator& aggregator,
                                std::span<const ValueBits* const> columns, std::size_t length,
                                std::vector<ValueBits>& out) {
  std::vector<std::int64_t> row;
  make_room(out, length);
  for (std::size_t from = 0; from < length; from += kPlaces) {
    const std::size_t count = std::min(kPlaces, length - from);
    if (sums_integers(aggregator, columns, from, count, out)) continue;
    if (extreme_integers(aggregator, columns, from, count, out)) continue;
    for (std::size_t i = from; i < from + count; ++i) {
      row.clear();
      for (const ValueBits* const column : columns) row.push_back(as_integer(column[i]));
      out.push_back(integer_bits(aggregate_integers(aggregator, row)));
    }
  }
}

void ColumnAggregator::doubles(const Aggregator& aggregator,
                               std::span<const ValueBits* const> columns, std::size_t length,
                               std::vector<ValueBits>& out) {
  std::vector<double> row;
  make_room(out, length);
  for (std::size_t from = 0; from < length; from += kPlaces) {
    const std::size_t count = std::min(kPlaces, length - from);
    if (sums_doubles(aggregator, columns, from, count, out)) continue;
    if (extreme_doubles(aggregator, columns, from, count, out)) continue;
    for (std::size_t i = from; i < from + count; ++i) {
      row.clear();
      for (const ValueBits* const column : columns) row.push_back(as_double(column[i]));
      out.push_back(double_bits(aggregate_doubles(aggregator, row)));
    }
  }
}

}  // namespace halite::query
