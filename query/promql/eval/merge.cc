#include "query/promql/eval/merge.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "query/promql/eval/key_numbers.h"

namespace halite::query::promql {
namespace {

std::unexpected<Error> equal_labels() {
  return fail(Errc::kInvalidArgument, "vector cannot contain metrics with the same labelset");
}

// False if both have a value at the same step.
bool add_column(std::span<double> to, std::span<const double> from) {
  bool apart = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool present = is_present(from[i]);
    apart &= !present || is_absent(to[i]);
    to[i] = present ? from[i] : to[i];
  }
  return apart;
}

}  // namespace

bool has_values(const Row& row) { return std::ranges::any_of(row.values, is_present); }

Result<void> merge_equal(Vector& vector) {
  KeyNumbers numbers;
  std::vector<std::size_t> firsts;
  std::string key;
  for (std::size_t i = 0; i < vector.rows.size(); ++i) {
    Row& row = vector.rows[i];
    key.clear();
    row.labels.append_key(key);
    const std::size_t number = numbers.number(key);
    if (number == firsts.size()) {
      firsts.push_back(i);
      continue;
    }
    if (!add_column(vector.rows[firsts[number]].values, row.values)) return equal_labels();
    std::ranges::fill(row.values, kAbsent);
  }
  remove_empty(vector);
  return {};
}

Result<void> refuse_equal(const Vector& vector) {
  KeyNumbers numbers;
  std::string key;
  std::size_t rows = 0;
  for (const Row& row : vector.rows) {
    if (!has_values(row)) continue;
    key.clear();
    row.labels.append_key(key);
    if (numbers.number(key) != rows) return equal_labels();
    ++rows;
  }
  return {};
}

void remove_empty(Vector& vector) {
  std::erase_if(vector.rows, [](const Row& row) { return !has_values(row); });
}

}  // namespace halite::query::promql
