#include "query/expression/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/expression/lexer.h"

namespace halite::query {
namespace {

using Node = std::unique_ptr<ExpressionNode>;

struct BinaryOp {
  std::string_view symbol;
  ExpressionOp op;
};

struct Level {
  std::vector<BinaryOp> ops;
  bool repeats = true;  // a op b op c is allowed
};

// Lowest precedence first.
const std::array<Level, 9>& levels() {
  using enum ExpressionOp;
  static const std::array<Level, 9> kLevels = {{
      {.ops = {{"||", kOr}}},
      {.ops = {{"&&", kAnd}}},
      {.ops = {{"|", kBitOr}}},
      {.ops = {{"^", kBitXor}}},
      {.ops = {{"&", kBitAnd}}},
      {.ops = {{"==", kEqual}, {"!=", kNotEqual}}, .repeats = false},
      {.ops = {{"<", kLess}, {"<=", kLessEqual}, {">", kGreater}, {">=", kGreaterEqual}},
       .repeats = false},
      {.ops = {{"+", kAdd}, {"-", kSubtract}}},
      {.ops = {{"*", kMultiply}, {"/", kDivide}, {"%", kModulo}}},
  }};
  return kLevels;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens, const ExpressionLimits& limits)
      : text_(text), tokens_(std::move(tokens)), limits_(limits) {}

  Result<Expression> parse() {
    TRY(expression_.root, script());
    return std::move(expression_);
  }

 private:
  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] bool is(std::string_view symbol) const {
    return token().kind == TokenKind::kOperator && token().text == symbol;
  }
  bool take(std::string_view symbol) {
    if (!is(symbol)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] std::unexpected<Error> fault() const {
    return fail(Errc::kInvalidArgument, jexl_fault(kJexlCaller, token(), "parsing", text_));
  }

  template <class... Children>
  static Node make(ExpressionOp op, Children... children) {
    auto node = std::make_unique<ExpressionNode>();
    node->op = op;
    (node->children.push_back(std::move(children)), ...);
    return node;
  }

  Result<Node> script() {
    TRY(Node first, assignment());
    if (token().kind == TokenKind::kEnd) return first;
    Node all = make(ExpressionOp::kScript, std::move(first));
    while (token().kind != TokenKind::kEnd) {
      if (!is(";")) return ambiguous();
      ++at_;
      if (token().kind == TokenKind::kEnd) break;
      TRY(Node next, assignment());
      all->children.push_back(std::move(next));
    }
    if (all->children.size() == 1) return std::move(all->children.front());
    return all;
  }

  // The error for two adjacent expressions: "a b".
  std::unexpected<Error> ambiguous() {
    const Token& begin = token();
    if (begin.kind == TokenKind::kOperator && !is("(") && !is("!") && !is("~")) return fault();
    if (auto next = assignment(); !next) return std::unexpected(std::move(next).error());
    const Token& last = tokens_[at_ - 1];
    return fail(Errc::kInvalidArgument,
                jexl_fault(last.image, last, "parsing",
                           "Ambiguous statement, missing ';' between expressions"));
  }

  // Counts one nesting level during its lifetime.
  class Deeper {
   public:
    explicit Deeper(std::size_t& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;

   private:
    std::size_t& depth_;
  };

  Result<void> check_depth() const {
    if (depth_ <= limits_.depth_max) return {};
    return fail(Errc::kTooLarge, fmt::format("An expression is nested more than {} deep; reduce "
                                             "the nesting or raise query.expression_depth_max",
                                             limits_.depth_max));
  }

  Result<Node> assignment() {
    const Deeper deeper(depth_);
    TRY_VOID(check_depth());
    TRY(Node left, ternary());
    if (!is("=")) return left;
    if (left->op != ExpressionOp::kVariable) return fault();
    ++at_;
    TRY(Node value, assignment());
    Node node = make(ExpressionOp::kAssign, std::move(value));
    node->text = left->text;
    node->variable = left->variable;
    return node;
  }

  Result<Node> ternary() {
    const Deeper deeper(depth_);
    TRY_VOID(check_depth());
    TRY(Node condition, binary(0));
    if (take("?:")) {
      TRY(Node other, ternary());
      return make(ExpressionOp::kElvis, std::move(condition), std::move(other));
    }
    if (!take("?")) return condition;
    TRY(Node yes, ternary());
    if (!take(":")) return fault();
    TRY(Node no, ternary());
    return make(ExpressionOp::kTernary, std::move(condition), std::move(yes), std::move(no));
  }

  // Chains nest to the left, so their length is limited like nesting.
  Result<Node> binary(std::size_t level) {
    if (level == levels().size()) return unary();
    TRY(Node left, binary(level + 1));
    const Level& here = levels()[level];
    for (std::size_t links = 0;; ++links) {
      const auto found =
          std::ranges::find_if(here.ops, [this](const BinaryOp& op) { return is(op.symbol); });
      if (found == here.ops.end()) return left;
      if (links > 0 && !here.repeats) return fault();
      ++at_;
      TRY(Node right, binary(level + 1));
      left = make(found->op, std::move(left), std::move(right));
    }
  }

  Result<Node> unary() {
    const Deeper deeper(depth_);
    TRY_VOID(check_depth());
    for (const auto& [symbol, op] :
         {BinaryOp{"-", ExpressionOp::kNegate}, BinaryOp{"!", ExpressionOp::kNot},
          BinaryOp{"~", ExpressionOp::kBitNot}}) {
      if (!take(symbol)) continue;
      TRY(Node child, unary());
      return make(op, std::move(child));
    }
    return primary();
  }

  Result<Node> primary() {
    if (take("(")) {
      TRY(Node inner, assignment());
      if (!take(")")) return fault();
      return make(ExpressionOp::kGroup, std::move(inner));
    }
    if (token().kind == TokenKind::kNumber) return number();
    if (token().kind == TokenKind::kName) return name();
    return fault();
  }

  Result<Node> number() {
    std::string_view digits = token().text;
    const char type = digits.back();
    if (type < '0' || type > '9') digits.remove_suffix(1);
    const char* const end = digits.data() + digits.size();
    Node node = make(ExpressionOp::kLiteral);
    node->text = token().image;
    const bool real = digits.contains('.') || digits.contains('e') || digits.contains('E') ||
                      type == 'f' || type == 'F' || type == 'd' || type == 'D';
    if (std::int64_t integer = 0;
        !real && std::from_chars(digits.data(), end, integer).ec == std::errc{}) {
      node->value = integer;
    } else {
      double value = 0;
      if (std::from_chars(digits.data(), end, value).ec != std::errc{}) return fault();
      const bool is_double = type == 'd' || type == 'D';
      node->value = is_double ? ExpressionValue(value) : ExpressionValue(RealLiteral{value});
    }
    ++at_;
    return node;
  }

  Result<Node> name() {
    const Token& word = token();
    ++at_;
    if (is("(") || is(".")) {
      return fail(Errc::kUnsupported,
                  fmt::format("Expressions have no functions and no members: \"{}{}\" in \"{}\"",
                              word.text, token().text, text_));
    }
    Node node = make(ExpressionOp::kLiteral);
    node->text = word.text;
    if (word.text == "null") {
      node->value = Null{};
    } else if (word.text == "true" || word.text == "false") {
      node->value = word.text == "true";
    } else {
      node->op = ExpressionOp::kVariable;
      auto& names = expression_.variables;
      const auto known = std::ranges::find(names, word.text);
      node->variable = static_cast<std::size_t>(known - names.begin());
      if (known == names.end()) names.emplace_back(word.text);
    }
    return node;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  const ExpressionLimits& limits_;
  Expression expression_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text, const ExpressionLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return fail(Errc::kTooLarge,
                fmt::format("An expression has {} bytes, at most {} are allowed; shorten it or "
                            "raise query.expression_bytes_max",
                            text.size(), limits.bytes_max));
  }
  const std::string_view trimmed = trim(text, " \t\r\n\f");
  TRY(std::vector<Token> tokens, tokenize(trimmed));
  return Parser(trimmed, std::move(tokens), limits).parse();
}

}  // namespace halite::query
