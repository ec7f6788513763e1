#include "query/promql/eval/binary.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "query/promql/eval/binary_op.h"
#include "query/promql/eval/match.h"
#include "query/promql/eval/merge.h"
#include "query/promql/eval/set_operators.h"

namespace halite::query::promql {
namespace {

Result<Value> of_scalars(const Binary& binary, Scalar left, const Scalar& right) {
  if (is_trim(binary.op)) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("operator \"{}\" not allowed for Scalar operations", binary_symbol(binary.op)));
  }
  with_operator(binary.op, [&](auto function) {
    for (std::size_t i = 0; i < left.values.size(); ++i) {
      left.values[i] = static_cast<double>(function(left.values[i], right.values[i]));
    }
  });
  return left;
}

// `scalar_left`: the scalar is the left operand.
void apply_scalar(const Binary& binary, Vector& vector, std::span<const double> scalar,
                  bool scalar_left) {
  with_operator(binary.op, [&](auto function) {
    for (Row& row : vector.rows) {
      double* values = row.values.data();
      for (std::size_t i = 0; i < scalar.size(); ++i) {
        const double x = values[i];
        const double left = scalar_left ? scalar[i] : x;
        const double right = scalar_left ? x : scalar[i];
        values[i] = is_absent(x) ? x : element(function, binary.returns_bool, left, right, x);
      }
    }
  });
}

Result<Value> of_vector_and_scalar(const Binary& binary, Vector vector, const Scalar& scalar,
                                   bool scalar_left, Position at, Annotations& annotations) {
  if (is_trim(binary.op)) {
    remove_empty(vector);
    if (!vector.rows.empty()) inform_no_histograms(binary.op, at, annotations);
    return Vector();
  }
  apply_scalar(binary, vector, scalar.values, scalar_left);
  if (drops_name(binary)) {
    for (Row& row : vector.rows) row.labels.drop_name();
    TRY_VOID(merge_equal(vector));
  } else {
    remove_empty(vector);
  }
  return vector;
}

}  // namespace

void inform_no_histograms(BinaryOp op, Position at, Annotations& annotations) {
  const std::string_view symbol = binary_symbol(op);
  annotations.inform(fmt::format("incompatible sample types encountered for binary operator "
                                 "\"{}\": float {} float",
                                 symbol, symbol),
                     at);
}

Result<Value> evaluate_binary(const Binary& binary, Value left, Value right, const Steps& steps,
                              Position at, TextArena& texts, Annotations& annotations,
                              WorkBudget& budget) {
  auto* const left_scalar = std::get_if<Scalar>(&left);
  auto* const right_scalar = std::get_if<Scalar>(&right);
  if (left_scalar != nullptr && right_scalar != nullptr) {
    return of_scalars(binary, std::move(*left_scalar), *right_scalar);
  }
  if (left_scalar != nullptr) {
    return of_vector_and_scalar(binary, std::get<Vector>(std::move(right)), *left_scalar, true, at,
                                annotations);
  }
  if (right_scalar != nullptr) {
    return of_vector_and_scalar(binary, std::get<Vector>(std::move(left)), *right_scalar, false, at,
                                annotations);
  }
  auto from = std::get<Vector>(std::move(left));
  auto with = std::get<Vector>(std::move(right));
  if (is_set_operator(binary.op)) {
    return evaluate_set(binary, std::move(from), std::move(with), steps);
  }
  return match_vectors(binary, std::move(from), std::move(with), steps, at, texts, annotations,
                       budget);
}

}  // namespace halite::query::promql
