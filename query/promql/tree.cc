#include "query/promql/tree.h"

#include <array>
#include <utility>

namespace halite::query::promql {

std::string_view type_name(ValueType type) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"scalar", "string", "instant vector", "range vector"});
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view type_word(ValueType type) {
  static constexpr auto kWords =
      std::to_array<std::string_view>({"scalar", "string", "vector", "matrix"});
  return kWords[static_cast<std::size_t>(type)];
}

std::string_view extension_name(Extension extension) {
  static constexpr auto kNames = std::to_array<std::string_view>({"", "anchored", "smoothed"});
  return kNames[static_cast<std::size_t>(extension)];
}

std::string_view aggregate_name(AggregateOp op) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"sum", "avg", "count", "min", "max", "group", "stddev", "stdvar", "topk", "bottomk",
       "count_values", "quantile", "limitk", "limit_ratio"});
  static_assert(kNames.size() == static_cast<std::size_t>(AggregateOp::kLimitRatio) + 1);
  return kNames[static_cast<std::size_t>(op)];
}

std::string_view binary_symbol(BinaryOp op) {
  static constexpr auto kSymbols =
      std::to_array<std::string_view>({"+", "-", "*", "/", "%", "^", "atan2", "==", "!=", "<",
                                       "<=", ">", ">=", "</", ">/", "and", "or", "unless"});
  static_assert(kSymbols.size() == static_cast<std::size_t>(BinaryOp::kUnless) + 1);
  return kSymbols[static_cast<std::size_t>(op)];
}

namespace {

// Destroys operators one after the other, each with its other side.
void destroy_chain(ExprPtr chain, ExprPtr Binary::* next) {
  while (chain != nullptr) {
    auto* const binary = std::get_if<Binary>(&chain->node);
    chain = binary == nullptr ? nullptr : std::move(binary->*next);
  }
}

}  // namespace

// Operators nest on both sides only as deep as there are precedences.
Expr::~Expr() {
  auto* const binary = std::get_if<Binary>(&node);
  if (binary == nullptr) return;
  destroy_chain(std::move(binary->left), &Binary::left);
  destroy_chain(std::move(binary->right), &Binary::right);
}

const Expr& without_parentheses(const Expr& expr) {
  const Expr* inner = &expr;
  while (const auto* const parentheses = std::get_if<Parentheses>(&inner->node)) {
    inner = parentheses->expr.get();
  }
  return *inner;
}

}  // namespace halite::query::promql
