#include "tests/unit/query/promql/reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <expected>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <regex>
#include <string_view>
#include <utility>

#include "common/data_point.h"

namespace halite::query::promql {
namespace {

namespace chrono = std::chrono;

using Labels = ReferenceLabels;
using Sample = ReferenceSample;
using Samples = std::vector<Sample>;
using Vector = ReferenceVector;
using Matrix = ReferenceMatrix;
using Value = ReferenceValue;
using Numbers = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kName = "__name__";

// Thrown where an evaluation fails.
struct Failed {
  ReferenceFailure what;
};

bool is_stale(double value) { return std::bit_cast<std::uint64_t>(value) == kStaleMarker; }
double seconds(TimestampMs time) { return static_cast<double>(time) / 1000; }

std::string get(const Labels& labels, const std::string& name) {
  const auto found = labels.find(name);
  return found == labels.end() ? "" : found->second;
}

void set(Labels& labels, const std::string& name, const std::string& value) {
  if (value.empty()) {
    labels.erase(name);
  } else {
    labels[name] = value;
  }
}

Labels without_name(Labels labels) {
  for (const auto* name : {"__name__", "__type__", "__unit__"}) labels.erase(name);
  return labels;
}

Labels only(const Labels& labels, const std::vector<std::string>& names) {
  Labels kept;
  for (const std::string& name : names) set(kept, name, get(labels, name));
  return kept;
}

Labels all_but(Labels labels, const std::vector<std::string>& names) {
  for (const std::string& name : names) labels.erase(name);
  return labels;
}

void add(Vector& vector, Labels labels, double value) {
  if (!vector.emplace(std::move(labels), value).second) throw Failed{ReferenceFailure::kDuplicate};
}

bool matches(const LabelMatcher& matcher, const std::string& value) {
  switch (matcher.kind()) {
    case MatchKind::kEqual:
      return value == matcher.value();
    case MatchKind::kNotEqual:
      return value != matcher.value();
    case MatchKind::kRegexp:
      return std::regex_match(value, std::regex(matcher.value()));
    case MatchKind::kNotRegexp:
      return !std::regex_match(value, std::regex(matcher.value()));
  }
  std::abort();
}

// ---- sums ---------------------------------------------------------------------------------------

// A sum and what it lost.
struct Sum {
  double sum = 0;
  double lost = 0;

  void add(double x) {
    const double next = sum + x;
    if (std::isinf(next)) {
      lost = 0;
    } else if (std::abs(sum) >= std::abs(x)) {
      lost += (sum - next) + x;
    } else {
      lost += (x - next) + sum;
    }
    sum = next;
  }
};

double sum_of(const Numbers& values) {
  Sum sum{.sum = values.front()};
  for (std::size_t i = 1; i < values.size(); ++i) sum.add(values[i]);
  return sum.sum + sum.lost;
}

double sum_over_time(const Numbers& values) {
  Sum sum;
  for (const double value : values) sum.add(value);
  return std::isinf(sum.sum) ? sum.sum : sum.sum + sum.lost;
}

double average(const Numbers& values) {
  Sum sum{.sum = values.front()};
  bool overflowed = false;  // from then on `sum` is the mean
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto n = static_cast<double>(i + 1);
    if (!overflowed) {
      Sum next = sum;
      next.add(values[i]);
      if (!std::isinf(next.sum)) {
        sum = next;
        continue;
      }
      overflowed = true;
      sum = {.sum = sum.sum / (n - 1), .lost = sum.lost / (n - 1)};
    }
    const double part = (n - 1) / n;
    sum = {.sum = part * sum.sum, .lost = part * sum.lost};
    sum.add(values[i] / n);
  }
  if (overflowed) return sum.sum + sum.lost;
  const auto n = static_cast<double>(values.size());
  return sum.sum / n + sum.lost / n;
}

double variance(const Numbers& values) {
  if (!std::isfinite(values.front())) return kNan;
  double mean = values.front();
  double m2 = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double delta = values[i] - mean;
    mean += delta / static_cast<double>(i + 1);
    m2 += delta * (values[i] - mean);
  }
  return m2 / static_cast<double>(values.size());
}

double variance_over_time(const Numbers& values) {
  Sum mean;
  Sum m2;
  double n = 0;
  for (const double value : values) {
    n += 1;
    const double delta = value - (mean.sum + mean.lost);
    mean.add(delta / n);
    m2.add(delta * (value - (mean.sum + mean.lost)));
  }
  return (m2.sum + m2.lost) / n;
}

double least(const Numbers& values) {
  double least = values.front();
  for (const double value : values) {
    if (value < least || std::isnan(least)) least = value;
  }
  return least;
}

double greatest(const Numbers& values) {
  double greatest = values.front();
  for (const double value : values) {
    if (value > greatest || std::isnan(greatest)) greatest = value;
  }
  return greatest;
}

double quantile(double q, Numbers values) {
  if (values.empty() || std::isnan(q)) return kNan;
  if (q < 0) return -kInfinity;
  if (q > 1) return kInfinity;
  std::ranges::sort(values,
                    [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; });
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(rank));
  const std::size_t high = std::min(values.size() - 1, low + 1);
  const double weight = rank - std::floor(rank);
  return values[low] * (1 - weight) + values[high] * weight;
}

// ---- functions of a range -----------------------------------------------------------------------

bool keeps_name(std::string_view function) {
  return function == "last_over_time" || function == "first_over_time";
}

struct Range {
  Samples samples;  // not empty
  TimestampMs begin = 0;
  TimestampMs end = 0;
  TimestampMs now = 0;
};

Numbers values_of(const Samples& samples) {
  Numbers values;
  for (const Sample& sample : samples) values.push_back(sample.value);
  return values;
}

double greatest_size(const Numbers& values) {
  double size = 0;
  for (const double value : values) size = std::max(size, std::abs(value));
  return size;
}

std::optional<double> extrapolated(const Range& range, bool counter, bool per_second) {
  const Samples& samples = range.samples;
  if (samples.size() < 2) return std::nullopt;
  double delta = samples.back().value - samples.front().value;
  for (std::size_t i = 1; counter && i < samples.size(); ++i) {
    if (samples[i].value < samples[i - 1].value) delta += samples[i - 1].value;
  }
  const double span = seconds(samples.back().time - samples.front().time);
  const double gap = span / static_cast<double>(samples.size() - 1);
  double before = seconds(samples.front().time - range.begin);
  double after = seconds(range.end - samples.back().time);
  if (before >= gap * 1.1) before = gap / 2;
  if (counter && delta > 0 && samples.front().value >= 0) {
    before = std::min(before, span * (samples.front().value / delta));
  }
  if (after >= gap * 1.1) after = gap / 2;
  const double result = delta * ((span + before + after) / span);
  return per_second ? result / seconds(range.end - range.begin) : result;
}

struct Line {
  double slope = 0;
  double intercept = 0;
};

Line regression(const Samples& samples, TimestampMs zero) {
  const double first = samples.front().value;
  const auto is_first = [first](const Sample& sample) { return sample.value == first; };
  if (std::all_of(samples.begin() + 1, samples.end(), is_first)) {
    return std::isinf(first) ? Line{kNan, kNan} : Line{0, first};
  }
  Sum x;
  Sum y;
  Sum xy;
  Sum xx;
  for (const Sample& sample : samples) {
    const double at = seconds(sample.time - zero);
    x.add(at);
    y.add(sample.value);
    xy.add(at * sample.value);
    xx.add(at * at);
  }
  const auto n = static_cast<double>(samples.size());
  const double sx = x.sum + x.lost;
  const double sy = y.sum + y.lost;
  const double slope = (xy.sum + xy.lost - sx * sy / n) / (xx.sum + xx.lost - sx * sx / n);
  return {slope, sy / n - slope * sx / n};
}

// ---- functions of a value -----------------------------------------------------------------------

const std::map<std::string, double (*)(double), std::less<>> kMathFunctions = {
    {"abs", [](double v) { return std::abs(v); }},
    {"acos", [](double v) { return std::acos(v); }},
    {"acosh", [](double v) { return std::acosh(v); }},
    {"asin", [](double v) { return std::asin(v); }},
    {"asinh", [](double v) { return std::asinh(v); }},
    {"atan", [](double v) { return std::atan(v); }},
    {"atanh", [](double v) { return std::atanh(v); }},
    {"ceil", [](double v) { return std::ceil(v); }},
    {"cos", [](double v) { return std::cos(v); }},
    {"cosh", [](double v) { return std::cosh(v); }},
    {"deg", [](double v) { return v * 180 / std::numbers::pi; }},
    {"exp", [](double v) { return std::exp(v); }},
    {"floor", [](double v) { return std::floor(v); }},
    {"ln", [](double v) { return std::log(v); }},
    {"log10", [](double v) { return std::log10(v); }},
    {"log2", [](double v) { return std::log2(v); }},
    {"rad", [](double v) { return v * std::numbers::pi / 180; }},
    {"sgn", [](double v) { return v < 0   ? -1
                                  : v > 0 ? 1
                                          : v; }},
    {"sin", [](double v) { return std::sin(v); }},
    {"sinh", [](double v) { return std::sinh(v); }},
    {"sqrt", [](double v) { return std::sqrt(v); }},
    {"tan", [](double v) { return std::tan(v); }},
    {"tanh", [](double v) { return std::tanh(v); }},
};

bool is_date_function(std::string_view name) {
  return name == "minute" || name == "hour" || name == "month" || name == "year" ||
         name.starts_with("day");
}

double date_part(std::string_view name, std::int64_t unix_seconds) {
  const chrono::sys_seconds time{chrono::seconds(unix_seconds)};
  const chrono::sys_days day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  if (name == "minute") return static_cast<double>(clock.minutes().count());
  if (name == "hour") return static_cast<double>(clock.hours().count());
  if (name == "month") return static_cast<unsigned>(date.month());
  if (name == "year") return static_cast<int>(date.year());
  if (name == "day_of_week") return chrono::weekday(day).c_encoding();
  if (name == "day_of_month") return static_cast<unsigned>(date.day());
  if (name == "day_of_year") {
    const chrono::sys_days first(date.year() / chrono::January / 1);
    return static_cast<double>((day - first).count()) + 1;
  }
  const chrono::year_month_day_last last = date.year() / date.month() / chrono::last;
  return static_cast<unsigned>(last.day());  // days_in_month
}

// As Go: an infinity of the right sign wins over NaN.
double go_max(double a, double b) {
  if (a == kInfinity || b == kInfinity) return kInfinity;
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return std::max(a, b);
}
double go_min(double a, double b) { return -go_max(-a, -b); }

// ---- labels -------------------------------------------------------------------------------------

// The text of "$1", "${1}", "$name" and "$$" in a replacement.
std::string expand(const std::string& replacement, const std::smatch& groups) {
  std::string result;
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '$' || i + 1 == replacement.size()) {
      result += replacement[i];
      continue;
    }
    ++i;
    if (replacement[i] == '$') {
      result += '$';
      continue;
    }
    const bool braces = replacement[i] == '{';
    if (braces) ++i;
    std::string name;
    while (i < replacement.size() &&
           (std::isalnum(static_cast<unsigned char>(replacement[i])) || replacement[i] == '_')) {
      name += replacement[i++];
    }
    if (!braces) --i;
    const bool number = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (number && std::stoul(name) < groups.size()) result += groups[std::stoul(name)].str();
  }
  return result;
}

std::string plain_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 2000> text;
  const bool large = std::abs(value) >= 1e17;  // of which `fixed` writes more digits than needed
  const auto end = std::to_chars(text.begin(), text.end(), value,
                                 large ? std::chars_format::scientific : std::chars_format::fixed);
  std::string number(text.data(), end.ptr);
  if (!large) return number;
  const std::size_t e = number.find('e');
  const std::size_t digits = std::stoul(number.substr(e + 2)) + 1;  // behind "e+"
  number.resize(e);
  std::erase(number, '.');
  number.append(digits + (value < 0 ? 1 : 0) - number.size(), '0');
  return number;
}

const std::vector<LabelMatcher>* matchers_of(const Expr& expr) {
  if (const auto* const vector = std::get_if<VectorSelector>(&expr.node)) return &vector->matchers;
  if (const auto* const matrix = std::get_if<MatrixSelector>(&expr.node)) {
    return &matrix->selector.matchers;
  }
  return nullptr;
}

// The labels of what absent() makes.
Labels absent_labels(const Expr& argument) {
  Labels labels;
  std::set<std::string> seen;
  const std::vector<LabelMatcher>* const matchers = matchers_of(argument);
  if (matchers == nullptr) return labels;
  for (const LabelMatcher& matcher : *matchers) {
    if (matcher.name() == kName) continue;
    if (matcher.kind() == MatchKind::kEqual && seen.insert(matcher.name()).second) {
      set(labels, matcher.name(), matcher.value());
    } else {
      labels.erase(matcher.name());
    }
  }
  return labels;
}

// ---- classic histograms -------------------------------------------------------------------------

using Buckets = std::map<double, double>;  // bounds and counts

std::optional<double> bound_of(const Labels& labels) {
  const std::string text = get(labels, "le");
  char* end = nullptr;
  const double bound = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(bound);
}

std::map<Labels, Buckets> histograms(const Vector& vector) {
  std::map<Labels, Buckets> found;
  for (const auto& [labels, value] : vector) {
    if (const auto bound = bound_of(labels)) found[all_but(labels, {"le"})][*bound] += value;
  }
  return found;
}

double bucket_quantile(double q, const Buckets& buckets) {
  if (std::isnan(q)) return kNan;
  if (q < 0) return -kInfinity;
  if (q > 1) return kInfinity;
  if (buckets.rbegin()->first != kInfinity || buckets.size() < 2) return kNan;
  Numbers bounds;
  Numbers counts;
  for (const auto& [bound, count] : buckets) {
    bounds.push_back(bound);
    const double before = counts.empty() ? count : counts.back();
    const double difference = std::abs(before - count) / (std::abs(before) + std::abs(count));
    counts.push_back(difference < 1e-12 || count < before ? before : count);
  }
  if (counts.back() == 0) return kNan;
  const double rank = q * counts.back();
  std::size_t b = 0;
  while (b + 1 < counts.size() && counts[b] < rank) ++b;
  if (b + 1 == counts.size()) return bounds[b - 1];
  if (b == 0 && bounds[0] <= 0) return bounds[0];
  const double begin = b == 0 ? 0 : bounds[b - 1];
  const double below = b == 0 ? 0 : counts[b - 1];
  return begin + (bounds[b] - begin) * ((rank - below) / (counts[b] - below));
}

// How many observations are below x.
double rank_of(double x, const Buckets& buckets) {
  const double count = buckets.rbegin()->second;
  double begin = buckets.begin()->first > 0 ? 0 : -kInfinity;
  double below = 0;
  for (const auto& [bound, upto] : buckets) {
    if (begin >= x) return std::min(below, count);
    if (bound > x) {
      const double rank =
          begin == -kInfinity ? upto : below + (upto - below) * (x - begin) / (bound - begin);
      return std::min(rank, count);
    }
    begin = bound;
    below = upto;
  }
  return count;
}

double bucket_fraction(double lower, double upper, const Buckets& buckets) {
  const double count = buckets.rbegin()->second;
  if (buckets.rbegin()->first != kInfinity || count == 0) return kNan;
  if (std::isnan(lower) || std::isnan(upper)) return kNan;
  if (lower >= upper) return 0;
  return (rank_of(upper, buckets) - rank_of(lower, buckets)) / count;
}

// ---- binary operators ---------------------------------------------------------------------------

double arithmetic(BinaryOp op, double left, double right) {
  switch (op) {
    case BinaryOp::kAdd:
      return left + right;
    case BinaryOp::kSubtract:
      return left - right;
    case BinaryOp::kMultiply:
      return left * right;
    case BinaryOp::kDivide:
      return left / right;
    case BinaryOp::kModulo:
      return std::fmod(left, right);
    case BinaryOp::kPower:
      return std::pow(left, right);
    case BinaryOp::kAtan2:
      return std::atan2(left, right);
    default:
      std::abort();
  }
}

bool compare(BinaryOp op, double left, double right) {
  switch (op) {
    case BinaryOp::kEqual:
      return left == right;
    case BinaryOp::kNotEqual:
      return left != right;
    case BinaryOp::kLess:
      return left < right;
    case BinaryOp::kLessEqual:
      return left <= right;
    case BinaryOp::kGreater:
      return left > right;
    case BinaryOp::kGreaterEqual:
      return left >= right;
    default:
      std::abort();
  }
}

// What an operator makes of two numbers; nothing: a comparison drops the element.
std::optional<double> combine(const Binary& binary, double left, double right, double kept) {
  if (!is_comparison(binary.op)) return arithmetic(binary.op, left, right);
  const bool holds = compare(binary.op, left, right);
  if (binary.returns_bool) return holds ? 1 : 0;
  return holds ? std::optional(kept) : std::nullopt;
}

bool drops_name(const Binary& binary) { return !is_comparison(binary.op) || binary.returns_bool; }

Labels signature(const VectorMatching& matching, const Labels& labels) {
  if (matching.on) return only(labels, matching.labels);
  Labels rest = all_but(labels, matching.labels);
  rest.erase(kName);
  return rest;
}

Vector set_operation(const Binary& binary, const Vector& left, const Vector& right) {
  const auto signatures = [&binary](const Vector& vector) {
    std::set<Labels> all;
    for (const auto& [labels, value] : vector) all.insert(signature(binary.matching, labels));
    return all;
  };
  const std::set<Labels> of_left = signatures(left);
  const std::set<Labels> of_right = signatures(right);
  Vector result;
  for (const auto& [labels, value] : left) {
    const bool has_partner = of_right.contains(signature(binary.matching, labels));
    if (binary.op == BinaryOp::kOr || has_partner == (binary.op == BinaryOp::kAnd)) {
      add(result, labels, value);
    }
  }
  for (const auto& [labels, value] : right) {
    const bool has_partner = of_left.contains(signature(binary.matching, labels));
    if (binary.op == BinaryOp::kOr && !has_partner) add(result, labels, value);
  }
  return result;
}

Vector matched(const Binary& binary, const Vector& left, const Vector& right) {
  const VectorMatching& matching = binary.matching;
  if (left.empty() || right.empty()) return {};
  const bool right_is_many = matching.cardinality == MatchCardinality::kOneToMany;
  const bool one_to_one = matching.cardinality == MatchCardinality::kOneToOne;
  std::map<Labels, std::pair<Labels, double>> ones;
  for (const auto& [labels, value] : right_is_many ? left : right) {
    if (!ones.emplace(signature(matching, labels), std::pair(labels, value)).second) {
      throw Failed{ReferenceFailure::kMatching};
    }
  }
  std::set<std::pair<Labels, Labels>> taken;  // signatures and labels of results
  Vector result;
  for (const auto& [labels, value] : right_is_many ? right : left) {
    const Labels sign = signature(matching, labels);
    const auto one = ones.find(sign);
    if (one == ones.end()) continue;
    Labels to = drops_name(binary) ? without_name(labels) : labels;
    if (one_to_one) {
      to = matching.on ? only(to, matching.labels) : all_but(to, matching.labels);
    }
    for (const std::string& name : matching.include) set(to, name, get(one->second.first, name));
    if (!taken.emplace(sign, one_to_one ? Labels() : to).second) {
      throw Failed{ReferenceFailure::kMatching};
    }
    const double first = right_is_many ? one->second.second : value;
    const double second = right_is_many ? value : one->second.second;
    if (const auto made = combine(binary, first, second, first)) add(result, to, *made);
  }
  return result;
}

// ---- the tree -----------------------------------------------------------------------------------

class Reference {
 public:
  Reference(const std::vector<ReferenceSeries>& series, const ReferenceQuery& query,
            std::uint64_t noise)
      : series_(series), query_(query), noisy_(noise != 0), random_(noise) {}

  // Evaluates all parts of an expression at these times and notes where that fails.
  void visit(const Expr& expr, const std::vector<TimestampMs>& times);
  const Value& value(const Expr& expr, TimestampMs time);

  [[nodiscard]] const std::set<ReferenceFailure>& failures() const { return failures_; }
  [[nodiscard]] bool unspecified() const { return unspecified_; }

 private:
  using Outcome = std::expected<Value, ReferenceFailure>;
  // What each series of a range comes to, with the labels that it had.
  using RangeResults = std::map<Labels, double>;

  void visit_ranges(const Call& call, const std::vector<TimestampMs>& times);
  Value evaluate(const Expr& expr, TimestampMs time);
  Value call(const Call& call, TimestampMs time);
  Value binary(const Binary& binary, TimestampMs time);
  Vector aggregation(const Aggregation& aggregation, TimestampMs time);
  Vector top(const Aggregation& aggregation, double k, TimestampMs time);
  Vector instant_call(const Call& call, TimestampMs time);
  Vector histogram_call(const Call& call, TimestampMs time);
  Vector label_replace(const Call& call, TimestampMs time);
  Vector label_join(const Call& call, TimestampMs time);
  RangeResults range_results(const Call& call, TimestampMs time);
  std::optional<double> over_range(std::string_view name, const Range& range, double parameter);
  Vector select(const VectorSelector& selector, TimestampMs time, bool times_of_samples);
  Matrix matrix(const Expr& expr, TimestampMs time);
  double date(std::string_view name, double value);

  // The end of the window that is read at a time.
  TimestampMs end_of(const TimeModifiers& modifiers, TimestampMs time) const;
  std::vector<TimestampMs> inner_times(const Subquery& subquery, TimestampMs first,
                                       TimestampMs last) const;
  const std::vector<const ReferenceSeries*>& series_of(const VectorSelector& selector);
  double scalar(const Expr& expr, TimestampMs time) { return std::get<double>(value(expr, time)); }
  const Vector& vector(const Expr& expr, TimestampMs time) {
    return std::get<Vector>(value(expr, time));
  }

  template <class T>
  void shuffle(std::vector<T>& all) {
    if (noisy_) std::shuffle(all.begin(), all.end(), random_);
  }
  double inexact(double value, const Numbers& inputs);
  double inexact_variance(double value, const Numbers& inputs);

  const std::vector<ReferenceSeries>& series_;
  const ReferenceQuery& query_;
  const bool noisy_;
  std::mt19937_64 random_;
  std::map<std::pair<const Expr*, TimestampMs>, Outcome> known_;
  std::map<const VectorSelector*, std::vector<const ReferenceSeries*>> matched_;
  std::set<ReferenceFailure> failures_;
  bool unspecified_ = false;
};

// A value whose last bits depend on how it is computed from the inputs.
double Reference::inexact(double value, const Numbers& inputs) {
  const auto is_short = [](double number) {
    return std::abs(number) < 1e12 && std::trunc(number * 1024) == number * 1024;
  };
  if (!noisy_ || !std::isfinite(value)) return value;
  if (is_short(value) && std::ranges::all_of(inputs, is_short)) return value;
  const double size = std::max(std::abs(value), greatest_size(inputs));
  if (!std::isfinite(size)) return value;
  return value + size * 0x1p-50 * (static_cast<double>(random_() % 9) - 4);
}

double Reference::inexact_variance(double value, const Numbers& inputs) {
  const double size = greatest_size(inputs);
  return noisy_ ? std::max(inexact(value, {size * size}), 0.0) : value;
}

TimestampMs Reference::end_of(const TimeModifiers& modifiers, TimestampMs time) const {
  if (modifiers.at == AtKind::kTime) time = modifiers.at_ms;
  if (modifiers.at == AtKind::kStart) time = query_.times.front();
  if (modifiers.at == AtKind::kEnd) time = query_.times.back();
  return time - modifiers.offset.ms;
}

// The multiples of the subquery's step that its windows contain, and those between the windows.
std::vector<TimestampMs> Reference::inner_times(const Subquery& subquery, TimestampMs first,
                                                TimestampMs last) const {
  const std::int64_t step = subquery.step.ms == 0 ? query_.default_step_ms : subquery.step.ms;
  const TimestampMs begin = end_of(subquery.time, first) - subquery.range.ms;  // excluded
  const TimestampMs end = end_of(subquery.time, last);
  TimestampMs time = begin / step * step - step;
  while (time <= begin) time += step;
  std::vector<TimestampMs> times;
  for (; time <= end; time += step) times.push_back(time);
  return times;
}

const std::vector<const ReferenceSeries*>& Reference::series_of(const VectorSelector& selector) {
  const auto [place, is_new] = matched_.try_emplace(&selector);
  if (!is_new) return place->second;
  for (const ReferenceSeries& series : series_) {
    if (std::ranges::all_of(selector.matchers, [&series](const LabelMatcher& matcher) {
          return matches(matcher, get(series.labels, matcher.name()));
        })) {
      place->second.push_back(&series);
    }
  }
  return place->second;
}

void Reference::visit(const Expr& expr, const std::vector<TimestampMs>& times) {
  if (times.empty()) return;
  if (const auto* const inner = std::get_if<Parentheses>(&expr.node)) {
    visit(*inner->expr, times);
  } else if (const auto* const subquery = std::get_if<Subquery>(&expr.node)) {
    visit(*subquery->expr, inner_times(*subquery, times.front(), times.back()));
  } else if (const auto* const call = std::get_if<Call>(&expr.node)) {
    for (const ExprPtr& argument : call->arguments) visit(*argument, times);
  } else if (const auto* const aggregation = std::get_if<Aggregation>(&expr.node)) {
    if (aggregation->parameter != nullptr) visit(*aggregation->parameter, times);
    visit(*aggregation->expr, times);
  } else if (const auto* const binary = std::get_if<Binary>(&expr.node)) {
    visit(*binary->left, times);
    visit(*binary->right, times);
  } else if (const auto* const unary = std::get_if<Unary>(&expr.node)) {
    visit(*unary->expr, times);
  }
  for (const TimestampMs time : times) {
    try {
      if (expr.type != ValueType::kMatrix) static_cast<void>(value(expr, time));
    } catch (const Failed& failed) {
      failures_.insert(failed.what);
    }
  }
  const auto* const node = std::get_if<Call>(&expr.node);
  if (failures_.empty() && node != nullptr) visit_ranges(*node, times);
}

// Series that a function of ranges makes equal by dropping their names must not meet, even if they
// have values at different times.
void Reference::visit_ranges(const Call& call, const std::vector<TimestampMs>& times) {
  if (keeps_name(call.function->name)) return;
  std::map<Labels, Labels> sources;
  for (const TimestampMs time : times) {
    for (const auto& [labels, result] : range_results(call, time)) {
      const auto [place, is_new] = sources.emplace(without_name(labels), labels);
      if (!is_new && place->second != labels) failures_.insert(ReferenceFailure::kDuplicate);
    }
  }
}

const Value& Reference::value(const Expr& expr, TimestampMs time) {
  const std::pair key(&expr, time);
  auto known = known_.find(key);
  if (known == known_.end()) {
    Outcome outcome;
    try {
      outcome = evaluate(expr, time);
    } catch (const Failed& failed) {
      outcome = std::unexpected(failed.what);
    }
    known = known_.emplace(key, std::move(outcome)).first;
  }
  if (!known->second) throw Failed{known->second.error()};
  return *known->second;
}

Value Reference::evaluate(const Expr& expr, TimestampMs time) {
  if (const auto* const number = std::get_if<NumberLiteral>(&expr.node)) return number->value;
  if (const auto* const text = std::get_if<StringLiteral>(&expr.node)) return text->value;
  if (expr.type == ValueType::kMatrix) return matrix(expr, time);
  if (const auto* const inner = std::get_if<Parentheses>(&expr.node)) {
    return value(*inner->expr, time);
  }
  if (const auto* const selector = std::get_if<VectorSelector>(&expr.node)) {
    return select(*selector, time, false);
  }
  if (const auto* const node = std::get_if<Call>(&expr.node)) return call(*node, time);
  if (const auto* const node = std::get_if<Aggregation>(&expr.node)) {
    return aggregation(*node, time);
  }
  if (const auto* const node = std::get_if<Binary>(&expr.node)) return binary(*node, time);
  const auto& unary = std::get<Unary>(expr.node);
  if (!unary.negates) return value(*unary.expr, time);
  if (unary.expr->type == ValueType::kScalar) return -scalar(*unary.expr, time);
  Vector result;
  for (const auto& [labels, number] : vector(*unary.expr, time)) {
    add(result, without_name(labels), -number);
  }
  return result;
}

Vector Reference::select(const VectorSelector& selector, TimestampMs time, bool times_of_samples) {
  const TimestampMs end = end_of(selector.time, time);
  Vector result;
  for (const ReferenceSeries* const series : series_of(selector)) {
    std::optional<Sample> newest;
    for (const Sample& sample : series->samples) {
      if (sample.time > end - query_.lookback_ms && sample.time <= end) newest = sample;
    }
    if (!newest || is_stale(newest->value)) continue;
    add(result, series->labels, times_of_samples ? seconds(newest->time) : newest->value);
  }
  return result;
}

Matrix Reference::matrix(const Expr& expr, TimestampMs time) {
  if (const auto* const inner = std::get_if<Parentheses>(&expr.node)) {
    return matrix(*inner->expr, time);
  }
  Matrix result;
  if (const auto* const subquery = std::get_if<Subquery>(&expr.node)) {
    for (const TimestampMs at : inner_times(*subquery, time, time)) {
      for (const auto& [labels, number] : vector(*subquery->expr, at)) {
        result[labels].push_back({at, number});
      }
    }
    return result;
  }
  const auto& range = std::get<MatrixSelector>(expr.node);
  const TimestampMs end = end_of(range.selector.time, time);
  for (const ReferenceSeries* const series : series_of(range.selector)) {
    for (const Sample& sample : series->samples) {
      if (sample.time > end || sample.time <= end - range.range.ms) continue;
      if (!is_stale(sample.value)) result[series->labels].push_back(sample);
    }
  }
  return result;
}

Value Reference::call(const Call& call, TimestampMs time) {
  const std::string_view name = call.function->name;
  if (name == "time") return seconds(time);
  if (name == "pi") return std::numbers::pi;
  if (name == "vector") return Vector{{Labels(), scalar(*call.arguments[0], time)}};
  if (name == "scalar") {
    const Vector& argument = vector(*call.arguments[0], time);
    return argument.size() == 1 ? argument.begin()->second : kNan;
  }
  if (name == "absent" || name == "absent_over_time") {
    const Expr& argument = without_parentheses(*call.arguments[0]);
    const bool empty =
        name == "absent" ? vector(argument, time).empty() : matrix(argument, time).empty();
    return empty ? Vector{{absent_labels(argument), 1}} : Vector();
  }
  if (name.starts_with("sort")) return vector(*call.arguments[0], time);
  if (name == "label_replace") return label_replace(call, time);
  if (name == "label_join") return label_join(call, time);
  if (name.starts_with("histogram_")) return histogram_call(call, time);
  if (std::ranges::any_of(call.arguments, [](const ExprPtr& argument) {
        return argument->type == ValueType::kMatrix;
      })) {
    Vector result;
    for (const auto& [labels, number] : range_results(call, time)) {
      add(result, keeps_name(name) ? labels : without_name(labels), number);
    }
    return result;
  }
  return instant_call(call, time);
}

// Nothing for functions that are none of a range.
Reference::RangeResults Reference::range_results(const Call& call, TimestampMs time) {
  const std::string_view name = call.function->name;
  RangeResults results;
  if (name == "absent_over_time") return results;
  const Expr* argument = nullptr;
  double parameter = 0;
  for (const ExprPtr& one : call.arguments) {
    if (one->type == ValueType::kMatrix) argument = &without_parentheses(*one);
    if (one->type == ValueType::kScalar) parameter = scalar(*one, time);
  }
  if (argument == nullptr) return results;
  Range range;
  range.now = time;
  if (const auto* const subquery = std::get_if<Subquery>(&argument->node)) {
    range.end = end_of(subquery->time, time);
    range.begin = range.end - subquery->range.ms;
  } else {
    const auto& selector = std::get<MatrixSelector>(argument->node);
    range.end = end_of(selector.selector.time, time);
    range.begin = range.end - selector.range.ms;
  }
  for (auto& [labels, samples] : matrix(*argument, time)) {
    range.samples = samples;
    if (const auto result = over_range(name, range, parameter)) results[labels] = *result;
  }
  return results;
}

std::optional<double> Reference::over_range(std::string_view name, const Range& range,
                                            double parameter) {
  const Samples& samples = range.samples;
  const Numbers values = values_of(samples);
  if (name == "rate" || name == "increase" || name == "delta") {
    const auto result = extrapolated(range, name != "delta", name == "rate");
    return result ? std::optional(inexact(*result, {*result})) : std::nullopt;
  }
  if (name == "irate" || name == "idelta") {
    if (samples.size() < 2) return std::nullopt;
    const Sample& before = samples[samples.size() - 2];
    const Sample& last = samples.back();
    if (name == "idelta") return last.value - before.value;
    const double rise = last.value < before.value ? last.value : last.value - before.value;
    return rise / seconds(last.time - before.time);
  }
  if (name == "resets" || name == "changes") {
    double count = 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
      const bool both_nan = std::isnan(values[i]) && std::isnan(values[i - 1]);
      const bool counts =
          name == "resets" ? values[i] < values[i - 1] : values[i] != values[i - 1] && !both_nan;
      count += counts ? 1 : 0;
    }
    return count;
  }
  if (name == "deriv" || name == "predict_linear") {
    if (samples.size() < 2) return std::nullopt;
    if (name == "deriv") {
      const double span = seconds(samples.back().time - samples.front().time);
      const double slope = regression(samples, samples.front().time).slope;
      return inexact(slope, {slope, greatest_size(values) / span});
    }
    const Line line = regression(samples, range.now);
    const double result = line.slope * parameter + line.intercept;
    // Far from the samples, the last bits of the slope weigh more.
    const double distance =
        std::abs(parameter) + std::abs(seconds(range.now - samples.front().time));
    const double span = seconds(samples.back().time - samples.front().time);
    return inexact(result,
                   {result, greatest_size(values) * (1 + distance / span) * (1 + distance / span)});
  }
  if (name == "sum_over_time") return inexact(sum_over_time(values), values);
  if (name == "avg_over_time") return inexact(average(values), values);
  if (name == "min_over_time") return least(values);
  if (name == "max_over_time") return greatest(values);
  if (name == "count_over_time") return static_cast<double>(values.size());
  if (name == "present_over_time") return 1;
  if (name == "last_over_time") return values.back();
  if (name == "first_over_time") return values.front();
  if (name == "stdvar_over_time") return inexact_variance(variance_over_time(values), values);
  if (name == "stddev_over_time") {
    return std::sqrt(inexact_variance(variance_over_time(values), values));
  }
  if (name == "quantile_over_time") {
    const double result = quantile(parameter, values);
    return inexact(result, {result});
  }
  std::abort();  // a function that is not known here
}

double Reference::date(std::string_view name, double value) {
  if (std::abs(value) < 1e11) return date_part(name, static_cast<std::int64_t>(value));
  unspecified_ = true;
  return kNan;
}

Vector Reference::instant_call(const Call& call, TimestampMs time) {
  const std::string_view name = call.function->name;
  if (call.arguments.empty()) return {{Labels(), date(name, seconds(time))}};
  const Expr& argument = without_parentheses(*call.arguments[0]);
  Vector result;
  if (name == "timestamp") {
    const auto* const selector = std::get_if<VectorSelector>(&argument.node);
    const Vector times =
        selector == nullptr ? vector(argument, time) : select(*selector, time, true);
    for (const auto& [labels, number] : times) {
      add(result, without_name(labels), selector == nullptr ? seconds(time) : number);
    }
    return result;
  }
  Numbers parameters;
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    parameters.push_back(scalar(*call.arguments[i], time));
  }
  const auto math = kMathFunctions.find(name);
  for (const auto& [labels, number] : vector(argument, time)) {
    double to = 0;
    if (math != kMathFunctions.end()) {
      to = math->second(number);
      if (name == "deg" || name == "rad") to = inexact(to, {to});
    } else if (is_date_function(name)) {
      to = date(name, number);
    } else if (name == "round") {
      const double inverse = 1 / (parameters.empty() ? 1 : parameters[0]);
      to = std::floor(number * inverse + 0.5) / inverse;
    } else if (name == "clamp") {
      if (parameters[1] < parameters[0]) continue;
      to = go_max(parameters[0], go_min(parameters[1], number));
    } else if (name == "clamp_min") {
      to = go_max(parameters[0], number);
    } else if (name == "clamp_max") {
      to = go_min(parameters[0], number);
    } else {
      std::abort();  // a function that is not known here
    }
    add(result, without_name(labels), to);
  }
  return result;
}

Vector Reference::histogram_call(const Call& call, TimestampMs time) {
  const std::string_view name = call.function->name;
  Vector result;
  if (name != "histogram_quantile" && name != "histogram_fraction") {
    return result;  // of histograms that are points, which there are none
  }
  const double first = scalar(*call.arguments[0], time);
  for (const auto& [labels, buckets] : histograms(vector(*call.arguments.back(), time))) {
    double to = 0;
    if (name == "histogram_quantile") {
      to = bucket_quantile(first, buckets);
      for (const auto& [bound, count] : buckets) {
        if (!std::isfinite(count)) unspecified_ = true;
      }
    } else {
      to = bucket_fraction(first, scalar(*call.arguments[1], time), buckets);
    }
    add(result, without_name(labels), inexact(to, {to}));
  }
  return result;
}

Vector Reference::label_replace(const Call& call, TimestampMs time) {
  Vector result;
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    texts.push_back(std::get<std::string>(value(without_parentheses(*call.arguments[i]), time)));
  }
  std::optional<std::regex> pattern;
  try {
    pattern.emplace(texts[3]);
  } catch (const std::regex_error&) {
    throw Failed{ReferenceFailure::kParameter};
  }
  if (texts[0].empty()) throw Failed{ReferenceFailure::kParameter};
  for (const auto& [labels, number] : vector(*call.arguments[0], time)) {
    Labels to = labels;
    const std::string source = get(labels, texts[2]);
    std::smatch groups;
    if (std::regex_match(source, groups, *pattern)) set(to, texts[0], expand(texts[1], groups));
    add(result, to, number);
  }
  return result;
}

Vector Reference::label_join(const Call& call, TimestampMs time) {
  Vector result;
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    texts.push_back(std::get<std::string>(value(without_parentheses(*call.arguments[i]), time)));
    if (i != 2 && texts.back().empty()) throw Failed{ReferenceFailure::kParameter};
  }
  for (const auto& [labels, number] : vector(*call.arguments[0], time)) {
    std::string joined;
    for (std::size_t i = 2; i < texts.size(); ++i) {
      if (i > 2) joined += texts[1];
      joined += get(labels, texts[i]);
    }
    Labels to = labels;
    set(to, texts[0], joined);
    add(result, to, number);
  }
  return result;
}

// ---- aggregations -------------------------------------------------------------------------------

Labels group_of(const Aggregation& aggregation, const Labels& labels) {
  if (!aggregation.without) return only(labels, aggregation.grouping);
  Labels rest = all_but(labels, aggregation.grouping);
  rest.erase(kName);
  return rest;
}

Vector Reference::aggregation(const Aggregation& aggregation, TimestampMs time) {
  const AggregateOp op = aggregation.op;
  Vector result;
  if (op == AggregateOp::kCountValues) {
    const auto label = std::get<std::string>(value(*aggregation.parameter, time));
    if (label.empty()) throw Failed{ReferenceFailure::kParameter};
    for (const auto& [labels, number] : vector(*aggregation.expr, time)) {
      Labels with_value = labels;
      set(with_value, label, plain_number(number));
      Labels group = group_of(aggregation, with_value);
      if (!aggregation.without) set(group, label, plain_number(number));
      result[group] += 1;
    }
    return result;
  }
  const double parameter =
      aggregation.parameter == nullptr ? 0 : scalar(*aggregation.parameter, time);
  if (op == AggregateOp::kTopk || op == AggregateOp::kBottomk) {
    return top(aggregation, parameter, time);
  }
  std::map<Labels, Numbers> groups;
  for (const auto& [labels, number] : vector(*aggregation.expr, time)) {
    groups[group_of(aggregation, labels)].push_back(number);
  }
  for (auto& [labels, values] : groups) {
    shuffle(values);
    double to = 0;
    switch (op) {
      case AggregateOp::kSum:
        to = inexact(sum_of(values), values);
        break;
      case AggregateOp::kAvg:
        to = inexact(average(values), values);
        break;
      case AggregateOp::kCount:
        to = static_cast<double>(values.size());
        break;
      case AggregateOp::kMin:
        to = least(values);
        break;
      case AggregateOp::kMax:
        to = greatest(values);
        break;
      case AggregateOp::kGroup:
        to = 1;
        break;
      case AggregateOp::kStddev:
        to = std::sqrt(inexact_variance(variance(values), values));
        break;
      case AggregateOp::kStdvar:
        to = inexact_variance(variance(values), values);
        break;
      case AggregateOp::kQuantile:
        to = quantile(parameter, values);
        to = inexact(to, {to});
        break;
      default:
        std::abort();  // an operator that is not known here
    }
    add(result, labels, to);
  }
  return result;
}

Vector Reference::top(const Aggregation& aggregation, double k, TimestampMs time) {
  if (std::isnan(k) || k >= 9223372036854774784.0) throw Failed{ReferenceFailure::kParameter};
  if (k <= -9223372036854775808.0) unspecified_ = true;  // an error only if others are not
  std::map<Labels, std::vector<std::pair<Labels, double>>> groups;
  for (const auto& [labels, number] : vector(*aggregation.expr, time)) {
    groups[group_of(aggregation, labels)].emplace_back(labels, number);
  }
  Vector result;
  if (k < 1) return result;
  for (auto& [group, elements] : groups) {
    shuffle(elements);
    // In the order of what is kept first; equal values stay in their order.
    std::multimap<std::pair<bool, double>, Labels> best;
    for (const auto& [labels, number] : elements) {
      const bool none = std::isnan(number);
      const double key = aggregation.op == AggregateOp::kTopk ? -number : number;
      best.emplace(std::pair(none, none ? 0 : key), labels);
    }
    double left = std::trunc(k);
    for (const auto& [key, labels] : best) {
      if (left-- < 1) break;
      add(result, labels, vector(*aggregation.expr, time).at(labels));
    }
  }
  return result;
}

Value Reference::binary(const Binary& binary, TimestampMs time) {
  const bool left_is_scalar = binary.left->type == ValueType::kScalar;
  const bool right_is_scalar = binary.right->type == ValueType::kScalar;
  if (left_is_scalar && right_is_scalar) {
    return *combine(binary, scalar(*binary.left, time), scalar(*binary.right, time), 0);
  }
  if (is_set_operator(binary.op)) {
    return set_operation(binary, vector(*binary.left, time), vector(*binary.right, time));
  }
  if (!left_is_scalar && !right_is_scalar) {
    return matched(binary, vector(*binary.left, time), vector(*binary.right, time));
  }
  const double number = scalar(left_is_scalar ? *binary.left : *binary.right, time);
  Vector result;
  for (const auto& [labels, element] :
       vector(left_is_scalar ? *binary.right : *binary.left, time)) {
    const auto made = left_is_scalar ? combine(binary, number, element, element)
                                     : combine(binary, element, number, element);
    if (made) add(result, drops_name(binary) ? without_name(labels) : labels, *made);
  }
  return result;
}

}  // namespace

ReferenceAnswer reference_answer(const Expr& expr, const std::vector<ReferenceSeries>& series,
                                 const ReferenceQuery& query, std::uint64_t noise) {
  Reference reference(series, query, noise);
  reference.visit(expr, query.times);
  ReferenceAnswer answer;
  answer.failures = reference.failures();
  answer.unspecified = reference.unspecified();
  if (!answer.failures.empty()) return answer;
  for (const TimestampMs time : query.times) answer.values.push_back(reference.value(expr, time));
  return answer;
}

}  // namespace halite::query::promql
