#include "query/promql/eval/set_operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "query/promql/eval/merge.h"
#include "query/promql/eval/row_groups.h"

namespace halite::query::promql {
namespace {

// Keeps values at the steps where `other` has a row of the same signature, or where it has none.
void filter_by(std::vector<Row>& rows, const std::vector<Row>& other, RowGroups& signatures,
               std::size_t steps, bool keeps_matched) {
  std::vector<std::uint8_t> present;  // of each signature and step
  for (const Row& row : other) {
    const std::size_t begin = signatures.of(row.labels) * steps;
    if (begin == present.size()) present.resize(begin + steps);
    for (std::size_t i = 0; i < steps; ++i) {
      std::uint8_t& there = present[begin + i];
      there = static_cast<std::uint8_t>(there | (is_present(row.values[i]) ? 1 : 0));
    }
  }
  for (Row& row : rows) {
    const std::size_t begin = signatures.of(row.labels) * steps;
    if (begin >= present.size()) {
      if (keeps_matched) std::ranges::fill(row.values, kAbsent);
      continue;
    }
    for (std::size_t i = 0; i < steps; ++i) {
      const bool matched = present[begin + i] != 0;
      row.values[i] = matched == keeps_matched ? row.values[i] : kAbsent;
    }
  }
}

}  // namespace

Result<Vector> evaluate_set(const Binary& binary, Vector left, Vector right, const Steps& steps) {
  RowGroups signatures(binary.matching.labels, binary.matching.on);
  if (binary.op != BinaryOp::kOr) {
    filter_by(left.rows, right.rows, signatures, steps.count, binary.op == BinaryOp::kAnd);
    remove_empty(left);
    return left;
  }
  filter_by(right.rows, left.rows, signatures, steps.count, false);
  std::ranges::move(right.rows, std::back_inserter(left.rows));
  left.ordered |= right.ordered;
  TRY_VOID(merge_equal(left));
  return left;
}

}  // namespace halite::query::promql
