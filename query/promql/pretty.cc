#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "query/promql/print.h"
#include "query/promql/printer.h"

namespace halite::query::promql {
namespace {

constexpr std::size_t kLineBytesMax = 100;
constexpr std::string_view kIndent = "  ";

// As Prometheus breaks lines: a node that does not fit in one is split into its parts, each one
// level deeper.
class Pretty {
 public:
  void expr(const Expr& expr, std::size_t level) {
    std::visit([this, &expr, level](const auto& node) { write(expr, node, level); }, expr.node);
  }
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

  void write(const Expr& expr, const Binary& node, std::size_t level) {
    if (one_line(expr, level)) return;
    const bool before = before_arithmetic_;
    before_arithmetic_ = before || is_duration_operator(node.op);
    if (has_infinite_base(node)) {
      indent(level + 1);
      text_ += "Inf";
    } else {
      this->expr(*node.left, level + 1);
    }
    before_arithmetic_ = before;
    break_line(level);
    Printer head;
    head.binary_head(node);
    text_ += head.text();
    text_ += '\n';
    this->expr(*node.right, level + 1);
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

std::string pretty(const Expr& expr) {
  Pretty pretty;
  pretty.expr(expr, 0);
  return pretty.take();
}

}  // namespace halite::query::promql
