// Random expressions of PromQL over random series: queries against the reference.
//
// A case is an expression, asked at one time or at several. tests/support/dice.h tells how to
// choose cases; ./dev properties asks for 200 000. Case n of a seed is always the same. A failure
// names both and the smallest part of the expression that still fails.
//
// Where the answers differ, the reference is asked again with noise: other orders of sums, other
// last bits, other choices of equal elements. An expression that noise gives another answer has
// none that can be compared.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/data_point.h"
#include "query/engine/promql.h"
#include "query/promql/parse.h"
#include "tests/support/dice.h"
#include "tests/support/query_world.h"
#include "tests/support/sanitized.h"
#include "tests/unit/query/promql/random_expression.h"
#include "tests/unit/query/promql/reference.h"

namespace halite::query::promql {
namespace {

using test::Dice;
using test::QueryLayout;
using test::QueryWorld;

constexpr std::int64_t kMinute = 60'000;
constexpr std::uint64_t kCasesOfWorld = 50;
constexpr std::uint64_t kNoises = 20;
constexpr double kTolerance = 1e-9;  // relative

// 1970, and two times at which an hour ends: OpenTSDB's rows are hours.
const std::vector<TimestampMs> kBegins = {0, 1'356'998'400'000 - 10 * kMinute,
                                          1'382'832'000'000 - 17 * kMinute};

struct World {
  TimestampMs begin = 0;
  std::vector<ReferenceSeries> series;
  std::unique_ptr<QueryWorld> store;
};

// What is asked: at `steps`, as a range query or at one time.
struct Asked {
  std::string expression;
  Steps steps;
  bool range = false;
};

// ---- worlds -------------------------------------------------------------------------------------

std::string text_of(const ReferenceLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ", ", name, value);
  }
  return "{" + text + "}";
}

World make_world(std::uint64_t seed, std::uint64_t number) {
  Dice dice((seed << 32) + (number << 1) + 1);
  World world;
  world.begin = dice.of(kBegins);
  world.series = random_series(dice, world.begin);
  world.store = std::make_unique<QueryWorld>(dice.of<QueryLayout>(
      {QueryLayout::kOpentsdb, QueryLayout::kOpentsdbSalted, QueryLayout::kCyclic}));
  for (const ReferenceSeries& series : world.series) {
    std::string name = series.labels.at("__name__");
    for (const auto& [label, value] : series.labels) {
      if (label != "__name__") name += fmt::format(" {}={}", label, value);
    }
    const bool integers = dice.one_in(4);
    for (const ReferenceSample& sample : series.samples) {
      const bool is_integer = integers && std::trunc(sample.value) == sample.value &&
                              std::abs(sample.value) < 1e9 && !std::signbit(sample.value);
      world.store->put(name, sample.time,
                       is_integer ? integer_bits(static_cast<std::int64_t>(sample.value))
                                  : double_bits(sample.value),
                       !is_integer);
    }
  }
  return world;
}

Asked random_question(Dice& dice, const World& world) {
  Asked asked;
  asked.range = !dice.one_in(3);
  asked.expression = random_expression(dice, world.begin, !asked.range);
  asked.steps.begin = world.begin + dice.upto(32 * kMinute);
  if (dice.one_in(2)) asked.steps.begin = asked.steps.begin / 30'000 * 30'000;
  asked.steps.step_ms = dice.of<std::int64_t>(
      {1000, 7000, 15'000, 30'000, 30'000, 60'000, 60'000, 61'234, 120'000, 300'000});
  const std::int64_t more = dice.one_in(4) ? 60 : 8;
  if (asked.range) asked.steps.count = static_cast<std::size_t>(1 + dice.upto(more));
  return asked;
}

// ---- answers ------------------------------------------------------------------------------------

// An answer in the form of the reference.
struct Answered {
  std::optional<ReferenceFailure> failure;
  std::vector<ReferenceValue> values;
  std::vector<double> order;  // of an instant vector: its values as they stand
};

std::optional<ReferenceFailure> failure_of(std::string_view message) {
  if (message.contains("same labelset")) return ReferenceFailure::kDuplicate;
  if (message.contains("multiple matches for labels") ||
      message.contains("found duplicate series")) {
    return ReferenceFailure::kMatching;
  }
  for (const char* const text : {"Parameter value is NaN", "flows int64", "invalid regular",
                                 "label name in label_", "invalid label name"}) {
    if (message.contains(text)) return ReferenceFailure::kParameter;
  }
  return std::nullopt;
}

ReferenceLabels labels_of(const Labels& labels) {
  ReferenceLabels result;
  for (const Label& label : labels) result[std::string(label.name)] = label.value;
  return result;
}

// Either the answer or what is wrong with it by itself.
using Read = std::variant<Answered, std::string>;

Read read_vector(const Vector& vector, const Asked& asked) {
  Answered answered;
  std::vector<ReferenceVector> steps(asked.steps.count);
  for (std::size_t i = 0; i < vector.rows.size(); ++i) {
    const Row& row = vector.rows[i];
    if (asked.range && i > 0 && !(vector.rows[i - 1].labels < row.labels)) {
      return fmt::format("{} is not in the order of labels", row.labels.text());
    }
    if (row.values.size() != steps.size()) return "a row has another number of steps";
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (is_absent(row.values[k])) continue;
      if (!steps[k].emplace(labels_of(row.labels), row.values[k]).second) {
        return fmt::format("{} is there twice", row.labels.text());
      }
      if (!asked.range) answered.order.push_back(row.values[k]);
    }
  }
  answered.values.assign(steps.begin(), steps.end());
  return answered;
}

Read ask(const World& world, const Asked& asked) {
  PromqlQuestion question;
  question.expression = asked.expression;
  question.steps = asked.steps;
  question.range = asked.range;
  const auto answer = world.store->ask_promql(std::move(question));
  Answered answered;
  if (!answer) {
    answered.failure = failure_of(answer.error().message);
    if (!answered.failure) return "the query failed: " + answer.error().message;
    return answered;
  }
  const Value& value = (*answer)->value;
  if (const auto* const vector = std::get_if<Vector>(&value)) return read_vector(*vector, asked);
  if (const auto* const scalar = std::get_if<Scalar>(&value)) {
    answered.values.assign(scalar->values.begin(), scalar->values.end());
  } else if (const auto* const text = std::get_if<std::string>(&value)) {
    answered.values.emplace_back(*text);
  } else {
    ReferenceMatrix matrix;
    for (const MatrixRow& row : std::get<Matrix>(value).rows) {
      std::vector<ReferenceSample>& samples = matrix[labels_of(row.labels)];
      if (!samples.empty()) return fmt::format("{} is there twice", row.labels.text());
      for (std::size_t i = 0; i < row.times.size(); ++i) {
        samples.push_back({row.times[i], row.values[i]});
      }
    }
    answered.values.emplace_back(std::move(matrix));
  }
  return answered;
}

// ---- comparison ---------------------------------------------------------------------------------

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b));
}

bool same(const std::string& a, const std::string& b) { return a == b; }

bool same(const std::vector<ReferenceSample>& a, const std::vector<ReferenceSample>& b) {
  return std::ranges::equal(a, b, [](const ReferenceSample& x, const ReferenceSample& y) {
    return x.time == y.time && same(x.value, y.value);
  });
}

template <class Element>
bool same(const std::map<ReferenceLabels, Element>& a,
          const std::map<ReferenceLabels, Element>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && same(x.second, y.second);
  });
}

bool same(const ReferenceValue& a, const ReferenceValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit([&b]<class T>(const T& one) { return same(one, std::get<T>(b)); }, a);
}

bool same(const std::vector<ReferenceValue>& a, const std::vector<ReferenceValue>& b) {
  return std::ranges::equal(
      a, b, [](const ReferenceValue& x, const ReferenceValue& y) { return same(x, y); });
}

// The values of an instant vector without labels: those of topk() are certain where its choice
// among equals is not.
std::vector<ReferenceValue> without_labels(const std::vector<ReferenceValue>& values) {
  std::vector<ReferenceValue> result;
  for (const ReferenceValue& value : values) {
    const auto* const vector = std::get_if<ReferenceVector>(&value);
    if (vector == nullptr) continue;
    std::vector<double> numbers;
    for (const auto& [labels, number] : *vector) numbers.push_back(number);
    std::ranges::sort(numbers,
                      [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; });
    ReferenceVector anonymous;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      anonymous[{{"", fmt::format("{:06}", i)}}] = numbers[i];
    }
    result.emplace_back(std::move(anonymous));
  }
  return result;
}

bool chooses(const Expr& expr) {
  const auto* const aggregation = std::get_if<Aggregation>(&without_parentheses(expr).node);
  return aggregation != nullptr &&
         (aggregation->op == AggregateOp::kTopk || aggregation->op == AggregateOp::kBottomk);
}

// sort() puts NaN last in both directions.
bool is_sorted_as(const Expr& expr, const std::vector<double>& order) {
  const auto* const call = std::get_if<Call>(&without_parentheses(expr).node);
  if (call == nullptr || !call->function->name.starts_with("sort")) return true;
  const bool descending = call->function->name == "sort_desc";
  return std::ranges::is_sorted(order, [descending](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return descending ? a > b : a < b;
  });
}

// ---- reports ------------------------------------------------------------------------------------

std::string text_of(const ReferenceValue& value) {
  if (const auto* const number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  std::string text;
  if (const auto* const vector = std::get_if<ReferenceVector>(&value)) {
    for (const auto& [labels, number] : *vector) {
      text += fmt::format("\n    {} {}", text_of(labels), number);
    }
    return text;
  }
  for (const auto& [labels, samples] : std::get<ReferenceMatrix>(value)) {
    text += fmt::format("\n    {}", text_of(labels));
    for (const ReferenceSample& sample : samples) {
      text += fmt::format(" {}@{}", sample.value, sample.time);
    }
  }
  return text;
}

std::string_view text_of(ReferenceFailure failure) {
  switch (failure) {
    case ReferenceFailure::kDuplicate:
      return "equal labels";
    case ReferenceFailure::kMatching:
      return "sides that do not match";
    case ReferenceFailure::kParameter:
      return "a bad parameter";
  }
  return "";
}

std::string text_of(const Asked& asked) {
  return fmt::format("{} at {}{}", asked.expression, asked.steps.begin,
                     asked.range ? fmt::format(" and {} times every {} ms", asked.steps.count - 1,
                                               asked.steps.step_ms)
                                 : "");
}

// The series that may be part of an expression, by the names of their metrics.
std::string text_of_series(const World& world, std::string_view expression) {
  std::string text;
  for (const ReferenceSeries& series : world.series) {
    if (!expression.contains(series.labels.at("__name__")) && !expression.contains("__name__")) {
      continue;
    }
    text += "\n  " + text_of(series.labels);
    for (const ReferenceSample& sample : series.samples) {
      const bool is_stale = double_bits(sample.value) == kStaleMarker;
      text +=
          fmt::format(" {}@{}", is_stale ? "stale" : fmt::format("{}", sample.value), sample.time);
    }
  }
  return text;
}

std::string difference(const ReferenceAnswer& wanted, const Answered& found, const Steps& steps) {
  if (found.failure) return fmt::format("the query fails with {}", text_of(*found.failure));
  if (!wanted.failures.empty()) {
    return fmt::format("the query does not fail with {}", text_of(*wanted.failures.begin()));
  }
  for (std::size_t i = 0; i < std::min(wanted.values.size(), found.values.size()); ++i) {
    if (same(wanted.values[i], found.values[i])) continue;
    return fmt::format("at {}:\n  wanted {}\n  found {}", steps.at(i), text_of(wanted.values[i]),
                       text_of(found.values[i]));
  }
  return fmt::format("{} steps, not {}", found.values.size(), wanted.values.size());
}

// ---- cases --------------------------------------------------------------------------------------

enum class Outcome : std::uint8_t { kSame, kEmpty, kFailed, kUncertain, kWrong };

struct Verdict {
  Outcome outcome = Outcome::kSame;
  std::string what;  // of kWrong
};

Verdict wrong(std::string what) { return {Outcome::kWrong, std::move(what)}; }

bool agree(const ReferenceAnswer& wanted, const Answered& found) {
  if (found.failure) return wanted.failures.contains(*found.failure);
  return wanted.failures.empty() && same(wanted.values, found.values);
}

bool is_empty(const std::vector<ReferenceValue>& values) {
  return std::ranges::all_of(values, [](const ReferenceValue& value) {
    const auto* const vector = std::get_if<ReferenceVector>(&value);
    const auto* const matrix = std::get_if<ReferenceMatrix>(&value);
    return (vector != nullptr && vector->empty()) || (matrix != nullptr && matrix->empty());
  });
}

// Whether answers that differ may do so.
Outcome judge_difference(const World& world, const Expr& expr, const ReferenceQuery& query,
                         const ReferenceAnswer& wanted, const Answered& found) {
  if (wanted.unspecified) return Outcome::kUncertain;
  bool certain = true;
  bool certain_values = chooses(expr) && wanted.failures.empty() && !found.failure;
  const std::vector<ReferenceValue> numbers = without_labels(wanted.values);
  for (std::uint64_t noise = 1; noise <= kNoises; ++noise) {
    const ReferenceAnswer other = reference_answer(expr, world.series, query, noise);
    if (other.failures != wanted.failures || !same(other.values, wanted.values)) certain = false;
    if (!same(without_labels(other.values), numbers)) certain_values = false;
  }
  if (certain) return Outcome::kWrong;
  if (certain_values && !same(without_labels(found.values), numbers)) return Outcome::kWrong;
  return Outcome::kUncertain;
}

Verdict judge(const World& world, const Asked& asked) {
  auto parsed = parse(asked.expression, {});
  if (!parsed) return wrong("it is not parsed: " + parsed.error().message);
  Expr& expr = **parsed;
  const Result<void> resolved = resolve_durations(expr, asked.range ? asked.steps.step_ms : 0,
                                                  asked.steps.last() - asked.steps.begin);
  if (!resolved) return wrong("a duration: " + resolved.error().message);
  ReferenceQuery query;
  for (std::size_t i = 0; i < asked.steps.count; ++i) query.times.push_back(asked.steps.at(i));
  const ReferenceAnswer wanted = reference_answer(expr, world.series, query);
  const Read read = ask(world, asked);
  if (const auto* const what = std::get_if<std::string>(&read)) return wrong(*what);
  const auto& found = std::get<Answered>(read);
  if (!agree(wanted, found)) {
    const Outcome outcome = judge_difference(world, expr, query, wanted, found);
    if (outcome == Outcome::kUncertain) return {outcome, ""};
    return wrong(difference(wanted, found, asked.steps));
  }
  if (!is_sorted_as(expr, found.order)) return wrong("it is not sorted");
  if (found.failure) return {Outcome::kFailed, ""};
  return {is_empty(wanted.values) ? Outcome::kEmpty : Outcome::kSame, ""};
}

// ---- the smallest failure -----------------------------------------------------------------------

// Adds the texts of the parts that can be asked by themselves.
void add_parts(const Expr& expr, std::string_view text, std::vector<std::string>& parts) {
  if (expr.type == ValueType::kScalar || expr.type == ValueType::kVector) {
    parts.emplace_back(text.substr(expr.at.begin, expr.at.end - expr.at.begin));
  }
  const auto add = [&](const ExprPtr& part) {
    if (part != nullptr) add_parts(*part, text, parts);
  };
  if (const auto* const inner = std::get_if<Parentheses>(&expr.node)) {
    add(inner->expr);
  } else if (const auto* const subquery = std::get_if<Subquery>(&expr.node)) {
    add(subquery->expr);
  } else if (const auto* const call = std::get_if<Call>(&expr.node)) {
    for (const ExprPtr& argument : call->arguments) add(argument);
  } else if (const auto* const aggregation = std::get_if<Aggregation>(&expr.node)) {
    add(aggregation->parameter);
    add(aggregation->expr);
  } else if (const auto* const binary = std::get_if<Binary>(&expr.node)) {
    add(binary->left);
    add(binary->right);
  } else if (const auto* const unary = std::get_if<Unary>(&expr.node)) {
    add(unary->expr);
  }
}

// A smaller question that is answered wrongly, too; none if there is none.
std::optional<Asked> smaller(const World& world, const Asked& asked) {
  const auto parsed = parse(asked.expression, {});
  if (!parsed) return std::nullopt;
  std::vector<std::string> parts;
  add_parts(**parsed, asked.expression, parts);
  std::ranges::sort(parts, {}, &std::string::size);
  for (const std::string& part : parts) {
    Asked of_part = asked;
    of_part.expression = part;
    if (part.size() >= asked.expression.size()) break;
    if (judge(world, of_part).outcome == Outcome::kWrong) return of_part;
  }
  for (std::size_t i = 0; asked.range && i < asked.steps.count; ++i) {
    Asked at_step = asked;
    at_step.steps.begin = asked.steps.at(i);
    at_step.steps.count = 1;
    at_step.range = false;
    if (judge(world, at_step).outcome == Outcome::kWrong) return at_step;
  }
  return std::nullopt;
}

TEST(PromqlProperty, AnswersAreThoseOfTheReference) {
  const std::uint64_t seed = test::chosen_seed();
  const auto first = static_cast<std::uint64_t>(test::setting("HALITE_PROPERTY_FIRST", 0));
  const auto cases = static_cast<std::uint64_t>(
      test::setting("HALITE_PROPERTY_CASES", test::kSanitized ? 300 : 3000));
  fmt::print("HALITE_PROPERTY_SEED={}, {} cases from {}\n", seed, cases, first);
  std::map<Outcome, std::uint64_t> outcomes;
  World world;
  for (std::uint64_t i = first; i < first + cases; ++i) {
    if (i == first || i % kCasesOfWorld == 0) world = make_world(seed, i / kCasesOfWorld);
    Dice dice((seed << 32) + (i << 1));
    Asked asked = random_question(dice, world);
    const Verdict verdict = judge(world, asked);
    ++outcomes[verdict.outcome];
    if (verdict.outcome != Outcome::kWrong) continue;
    const std::string whole = text_of(asked);
    while (const auto less = smaller(world, asked)) asked = *less;
    FAIL() << fmt::format("seed {}, case {}: {}\n{}\nthe smallest part: {}\n{}{}", seed, i, whole,
                          verdict.what, text_of(asked), judge(world, asked).what,
                          text_of_series(world, asked.expression));
  }
  fmt::print("{} answered, {} empty, {} failed, {} uncertain\n", outcomes[Outcome::kSame],
             outcomes[Outcome::kEmpty], outcomes[Outcome::kFailed], outcomes[Outcome::kUncertain]);
  if (cases < 300) return;  // too few to judge the dice by
  EXPECT_GT(outcomes[Outcome::kSame], cases / 3);
  EXPECT_GT(outcomes[Outcome::kFailed], cases / 100);
  EXPECT_LT(outcomes[Outcome::kUncertain], cases / 20);
}

}  // namespace
}  // namespace halite::query::promql
