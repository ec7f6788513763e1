#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "query/promql/operator_walk.h"
#include "query/promql/print.h"
#include "query/promql/printer.h"

namespace halite::query::promql {
namespace {

constexpr std::size_t kLineBytesMax = 100;
constexpr std::string_view kIndent = "  ";
// Each operand of a long chain is indented by one level more.
constexpr std::size_t kPrettyBytesMax = 4 << 20;

// As Prometheus breaks lines: a node that does not fit in one is split into its parts, each one
// level deeper.
class Pretty {
 public:
  void expr(const Expr& expr, std::size_t level) {
    OperatorWalk<const Expr> walk(expr);
    std::vector<bool> before;        // before_arithmetic_ of each open operator
    const Expr* infinite = nullptr;  // the base of ^
    while (!is_full()) {
      const auto step = walk.next();
      if (!step) return;
      const std::size_t here = level + walk.depth(step->visit);
      const auto* const binary = std::get_if<Binary>(&step->expr->node);
      switch (step->visit) {
        case Visit::kBefore:
          if (one_line(*step->expr, here)) {
            walk.skip_sides();
            break;
          }
          before.push_back(before_arithmetic_);
          before_arithmetic_ = before_arithmetic_ || is_duration_operator(binary->op);
          if (has_infinite_base(*binary)) infinite = binary->left.get();
          break;
        case Visit::kBetween:
          before_arithmetic_ = before.back();
          break_line(here);
          operator_line(*binary);
          break;
        case Visit::kAfter:
          before.pop_back();
          break;
        case Visit::kOperand:
          if (step->expr == infinite) {
            indent(here);
            text_ += "Inf";
          } else {
            std::visit([&](const auto& node) { write(*step->expr, node, here); }, step->expr->node);
          }
          break;
      }
    }
  }
  [[nodiscard]] bool is_full() const { return text_.size() > kPrettyBytesMax; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void indent(std::size_t level) {
    // A sign stands where its operand would begin.
    if (std::exchange(skips_indent_, false)) return;
    for (std::size_t i = 0; i < level; ++i) text_ += kIndent;
  }
  void break_line(std::size_t level) {
    text_ += '\n';
    indent(level);
  }
  [[nodiscard]] bool fits(const Expr& expr) const {
    Printer printer(kLineBytesMax, before_arithmetic_);
    printer.expr(expr);
    return !printer.is_full();
  }
  void line(const Expr& expr) {
    Printer printer(Printer::kNoLimit, before_arithmetic_);
    printer.expr(expr);
    text_ += printer.text();
  }
  void operator_line(const Binary& node) {
    Printer head;
    head.binary_head(node);
    text_ += head.text();
    text_ += '\n';
  }
  void enclosed(const Expr& expr, std::size_t level) {
    const bool before = std::exchange(before_arithmetic_, false);
    this->expr(expr, level);
    before_arithmetic_ = before;
  }
  // True: it was printed in one line.
  bool one_line(const Expr& expr, std::size_t level) {
    if (!fits(expr)) return false;
    indent(level);
    line(expr);
    return true;
  }

  // Literals and selectors.
  void write(const Expr& expr, const auto&, std::size_t level) {
    indent(level);
    line(expr);
  }

  void write(const Expr& expr, const Aggregation& node, std::size_t level) {
    if (one_line(expr, level)) return;
    indent(level);
    Printer head;
    head.aggregation_head(node);
    text_ += head.text();
    text_ += "(\n";
    if (node.parameter != nullptr) {
      enclosed(*node.parameter, level + 1);
      text_ += ",\n";
    }
    enclosed(*node.expr, level + 1);
    break_line(level);
    text_ += ')';
  }

  void write(const Expr& expr, const Call& node, std::size_t level) {
    if (one_line(expr, level)) return;
    indent(level);
    text_ += node.function->name;
    text_ += "(\n";
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      if (i > 0) text_ += ",\n";
      enclosed(*node.arguments[i], level + 1);
    }
    break_line(level);
    text_ += ')';
  }

  void write(const Expr& expr, const Parentheses& node, std::size_t level) {
    if (one_line(expr, level)) return;
    indent(level);
    text_ += "(\n";
    enclosed(*node.expr, level + 1);
    break_line(level);
    text_ += ')';
  }

  // Prometheus does not indent one that fits.
  void write(const Expr& expr, const Subquery& node, std::size_t level) {
    if (fits(expr)) {
      skips_indent_ = false;
      line(expr);
      return;
    }
    this->expr(*node.expr, level);
    Printer suffix;
    suffix.subquery_suffix(node);
    text_ += suffix.text();
  }

  void write(const Expr&, const Unary& node, std::size_t level) {
    indent(level);
    text_ += node.negates ? '-' : '+';
    skips_indent_ = true;
    this->expr(*node.expr, level);
  }

  std::string text_;
  bool skips_indent_ = false;
  bool before_arithmetic_ = false;  // as in Printer
};

}  // namespace

Result<std::string> pretty(const Expr& expr) {
  Pretty pretty;
  pretty.expr(expr, 0);
  if (!pretty.is_full()) return pretty.take();
  return fail(Errc::kTooLarge, fmt::format("the expression has more than {} bytes when its lines "
                                           "are indented; format its parts",
                                           kPrettyBytesMax));
}

}  // namespace halite::query::promql
