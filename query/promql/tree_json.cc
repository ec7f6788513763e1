// The keys of an object are in the order of their names.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/json_string.h"
#include "query/promql/go_text.h"
#include "query/promql/number_text.h"
#include "query/promql/operator_walk.h"
#include "query/promql/print.h"
#include "query/promql/printer.h"

namespace halite::query::promql {
namespace {

std::string_view cardinality_name(MatchCardinality cardinality) {
  switch (cardinality) {
    case MatchCardinality::kOneToOne:
      return "one-to-one";
    case MatchCardinality::kManyToOne:
      return "many-to-one";
    case MatchCardinality::kOneToMany:
      return "one-to-many";
    case MatchCardinality::kManyToMany:
      break;
  }
  return "many-to-many";
}

std::string_view json_bool(bool value) { return value ? "true" : "false"; }

class TreeJson {
 public:
  void expr(const Expr* expr) {
    if (expr == nullptr) {
      to_ += "null";
      return;
    }
    OperatorWalk<const Expr> walk(*expr);
    while (const auto step = walk.next()) {
      if (step->visit == Visit::kOperand) {
        std::visit([this](const auto& node) { write(node); }, step->expr->node);
      } else {
        part(std::get<Binary>(step->expr->node), step->visit);
      }
    }
  }
  [[nodiscard]] std::string take() { return std::move(to_); }

 private:
  void string(std::string_view text) { append_json_string(to_, text); }
  void strings(const auto& texts) {
    list(texts, [this](std::string_view text) { string(text); });
  }
  void list(const auto& items, auto write_one) {
    to_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) to_ += ',';
      write_one(item);
    }
    to_ += ']';
  }
  // {"key": or ,"key":
  void begin(std::string_view key) { to_ += fmt::format("{{\"{}\":", key); }
  void next(std::string_view key) { to_ += fmt::format(",\"{}\":", key); }
  void end(std::string_view type) { to_ += fmt::format(",\"type\":\"{}\"}}", type); }

  void write(const NumberLiteral& node) {
    to_ += fmt::format(R"({{"type":"numberLiteral","val":"{}"}})", fixed_text(node.value));
  }
  void write(const StringLiteral& node) {
    to_ += R"({"type":"stringLiteral","val":)";
    string(node.value);
    to_ += '}';
  }
  void write(const Parentheses& node) {
    begin("expr");
    expr(node.expr.get());
    end("parenExpr");
  }
  void write(const Unary& node) {
    begin("expr");
    expr(node.expr.get());
    next("op");
    string(node.negates ? "-" : "+");
    end("unaryExpr");
  }

  void write(const VectorSelector& node) {
    selector(node);
    smoothed(node);
    at(node.time);
    end("vectorSelector");
  }
  void write(const MatrixSelector& node) {
    selector(node.selector);
    next("range");
    milliseconds(node.range);
    next("rangeExpr");
    duration(node.range.expr.get());
    smoothed(node.selector);
    at(node.selector.time);
    end("matrixSelector");
  }
  void selector(const VectorSelector& node) {
    begin("anchored");
    to_ += json_bool(node.extension == Extension::kAnchored);
    next("matchers");
    list(node.matchers, [this](const LabelMatcher& matcher) {
      begin("name");
      string(matcher.name());
      next("type");
      string(match_symbol(matcher.kind()));
      next("value");
      string(matcher.value());
      to_ += '}';
    });
    next("name");
    string(node.name);
    next("offset");
    offset(node.time);
  }
  void smoothed(const VectorSelector& node) {
    next("smoothed");
    to_ += json_bool(node.extension == Extension::kSmoothed);
  }
  void write(const Subquery& node) {
    begin("expr");
    expr(node.expr.get());
    next("offset");
    offset(node.time);
    next("range");
    milliseconds(node.range);
    next("rangeExpr");
    duration(node.range.expr.get());
    next("startOrEnd");
    start_or_end(node.time);
    next("step");
    milliseconds(node.step);
    next("stepExpr");
    duration(node.step.expr.get());
    timestamp(node.time);
    end("subquery");
  }
  void offset(const TimeModifiers& time) {
    milliseconds(time.offset);
    next("offsetExpr");
    duration(time.offset.expr.get());
  }
  void at(const TimeModifiers& time) {
    next("startOrEnd");
    start_or_end(time);
    timestamp(time);
  }
  void start_or_end(const TimeModifiers& time) {
    to_ += time.at == AtKind::kStart ? "\"start\"" : time.at == AtKind::kEnd ? "\"end\"" : "null";
  }
  void timestamp(const TimeModifiers& time) {
    next("timestamp");
    to_ += time.at == AtKind::kTime ? fmt::format("{}", time.at_ms) : "null";
  }
  void milliseconds(const Duration& duration) { to_ += fmt::format("{}", duration.ms); }

  // `wrapped`: in parentheses.
  void duration(const DurationExpr* expr, bool wrapped = false) {
    if (expr == nullptr) {
      to_ += "null";
    } else if (expr->op == DurationOp::kParentheses) {
      duration(expr->left.get(), true);
    } else if (expr->op == DurationOp::kNumber) {
      to_ += fmt::format(R"({{"duration":{},"type":"numberLiteral","val":"{}"}})",
                         json_bool(expr->written_as_duration), fixed_text(expr->seconds));
    } else {
      const bool is_sign = expr->op == DurationOp::kNegate || expr->op == DurationOp::kPlus;
      begin("lhs");
      duration(is_sign ? nullptr : expr->left.get());
      next("op");
      string(duration_symbol(expr->op));
      next("rhs");
      duration(is_sign ? expr->left.get() : expr->right.get());
      to_ += fmt::format(R"(,"type":"durationExpr","wrapped":{}}})", json_bool(wrapped));
    }
  }

  void write(const Call& node) {
    const Function& function = *node.function;
    begin("args");
    list(node.arguments, [this](const ExprPtr& argument) { expr(argument.get()); });
    next("func");
    begin("argTypes");
    list(function.arguments, [this](ValueType type) { string(type_word(type)); });
    to_ += fmt::format(R"(,"name":"{}","returnType":"{}","variadic":{}}})", function.name,
                       type_word(function.returns), function.variadic);
    end("call");
  }

  void write(const Aggregation& node) {
    begin("expr");
    expr(node.expr.get());
    next("grouping");
    strings(node.grouping);
    next("op");
    string(aggregate_name(node.op));
    next("param");
    expr(node.parameter.get());
    to_ += fmt::format(R"(,"type":"aggregation","without":{}}})", json_bool(node.without));
  }

  void write(const Binary&) {}  // expr() writes its parts
  void part(const Binary& node, Visit visit) {
    if (visit == Visit::kBefore) {
      to_ += fmt::format("{{\"bool\":{}", json_bool(node.returns_bool));
      next("lhs");
    } else if (visit == Visit::kBetween) {
      next("matching");
      if (matches_vectors(node)) {
        matching(node.matching);
      } else {
        to_ += "null";
      }
      next("op");
      string(binary_symbol(node.op));
      next("rhs");
    } else {
      end("binaryExpr");
    }
  }
  void matching(const VectorMatching& matching) {
    begin("card");
    string(cardinality_name(matching.cardinality));
    next("fillValues");
    begin("lhs");
    fill(matching.fill_left);
    next("rhs");
    fill(matching.fill_right);
    to_ += '}';
    next("include");
    strings(matching.include);
    next("labels");
    strings(matching.labels);
    to_ += fmt::format(",\"on\":{}}}", json_bool(matching.on));
  }
  // JSON has no number for NaN and infinity.
  void fill(std::optional<double> value) {
    if (!value) {
      to_ += "null";
    } else if (std::isfinite(*value)) {
      to_ += fixed_text(*value);
    } else {
      string(fixed_text(*value));
    }
  }

  std::string to_;
};

}  // namespace

std::string tree_json(const Expr& expr) {
  TreeJson json;
  json.expr(&expr);
  return json.take();
}

}  // namespace halite::query::promql
