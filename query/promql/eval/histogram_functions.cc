#include "query/promql/eval/histogram_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "query/promql/eval/merge.h"
#include "query/promql/go_text.h"
#include "query/promql/number.h"
#include "query/promql/number_text.h"

namespace halite::query::promql {
namespace {

constexpr std::string_view kBoundLabel = "le";
constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
// Counts whose relative difference is less are equal: rounding makes such differences.
constexpr double kSmallDifference = 1e-12;

struct Bucket {
  double bound;  // included
  double count;  // of values up to the bound
};

// The rows of one histogram.
struct Histogram {
  struct Column {
    double bound;
    const Row* row;
  };
  Labels labels;                // without le and name
  std::vector<Column> columns;  // in the order of bounds
};

// NaN if the text is no bound.
double parse_bound(std::string_view text) {
  double bound = 0;
  return read_number(text, bound) ? bound : parse_float(text).value_or(kUndefined);
}

std::vector<Histogram> group_buckets(const Vector& buckets, Position at, Annotations& annotations) {
  std::vector<Histogram> histograms;
  boost::unordered_flat_map<std::string, std::size_t> places;
  std::string key;
  for (const Row& row : buckets.rows) {
    if (!has_values(row)) continue;
    const std::string_view text = row.labels.get(kBoundLabel);
    const double bound = parse_bound(text);
    if (std::isnan(bound)) {
      annotations.warn(fmt::format("bucket label \"le\" is missing or has a malformed value of {}",
                                   go_quoted(text)),
                       at);
      continue;
    }
    Labels labels = row.labels;
    labels.erase(kBoundLabel);
    key.clear();
    labels.append_key(key);
    const auto [place, added] = places.try_emplace(key, histograms.size());
    if (added) {
      labels.drop_name();
      histograms.push_back({.labels = std::move(labels), .columns = {}});
    }
    histograms[place->second].columns.push_back({.bound = bound, .row = &row});
  }
  for (Histogram& histogram : histograms) {
    std::ranges::sort(histogram.columns, [](const auto& a, const auto& b) {
      return std::pair(a.bound, a.row) < std::pair(b.bound, b.row);
    });
  }
  return histograms;
}

// Its buckets at a step, in the order of bounds, each once.
void collect_buckets(const Histogram& histogram, std::size_t step, std::vector<Bucket>& to) {
  to.clear();
  for (const Histogram::Column& column : histogram.columns) {
    const double count = column.row->values[step];
    if (is_absent(count)) continue;
    if (!to.empty() && to.back().bound == column.bound) {
      to.back().count += count;
    } else {
      to.push_back({.bound = column.bound, .count = count});
    }
  }
}

bool nearly_equal(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  constexpr double kLeast = std::numeric_limits<double>::min();
  constexpr double kMost = std::numeric_limits<double>::max();
  const double sum = std::abs(a) + std::abs(b);
  const double difference = std::abs(a - b);
  if (a == 0 || b == 0 || sum < kLeast) return difference < kSmallDifference * kLeast;
  return difference / std::min(sum, kMost) < kSmallDifference;
}

// Counts must not fall: gives those that do the count before them. Returns whether one fell by more
// than a small difference.
bool raise_falling(std::vector<Bucket>& buckets, FallingBuckets& falling) {
  falling = {.bound_min = kUnbounded, .bound_max = -kUnbounded, .difference_max = 0};
  bool found = false;
  double before = buckets.front().count;
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    const double count = buckets[i].count;
    if (count == before) continue;
    if (nearly_equal(before, count)) {
      buckets[i].count = before;
    } else if (count < before) {
      buckets[i].count = before;
      found = true;
      falling.bound_min = std::min(falling.bound_min, buckets[i].bound);
      falling.bound_max = std::max(falling.bound_max, buckets[i].bound);
      falling.difference_max = std::max(falling.difference_max, before - count);
    } else {
      before = count;
    }
  }
  return found;
}

// The first bucket but the last one whose count is at least `rank`, or the last one. Counts may be
// NaN, so the places that this search looks at are part of the result.
std::size_t find_bucket(const std::vector<Bucket>& buckets, double rank) {
  std::size_t begin = 0;
  std::size_t end = buckets.size() - 1;
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (buckets[middle].count >= rank) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

// Of buckets whose counts do not fall.
double quantile_of_buckets(double quantile, const std::vector<Bucket>& buckets) {
  if (buckets.size() < 2 || buckets.back().count == 0) return kUndefined;
  double rank = quantile * buckets.back().count;
  const std::size_t place = find_bucket(buckets, rank);
  if (place == buckets.size() - 1) return buckets[place - 1].bound;
  const Bucket& bucket = buckets[place];
  if (place == 0 && bucket.bound <= 0) return bucket.bound;
  double begin = 0;
  double count = bucket.count;
  if (place > 0) {
    begin = buckets[place - 1].bound;
    count -= buckets[place - 1].count;
    rank -= buckets[place - 1].count;
  }
  return begin + (bucket.bound - begin) * (rank / count);
}

// Repairs buckets, and says so.
class QuantileReader {
 public:
  QuantileReader(const Steps& steps, Position buckets_at, Annotations& annotations)
      : steps_(steps), buckets_at_(buckets_at), annotations_(annotations) {}

  // kAbsent: the histogram has no bucket at this step.
  double read(const Histogram& histogram, double quantile, std::size_t step) {
    collect_buckets(histogram, step, buckets_);
    if (buckets_.empty()) return kAbsent;
    if (std::isnan(quantile)) return kUndefined;
    if (quantile < 0) return -kUnbounded;
    if (quantile > 1) return kUnbounded;
    if (buckets_.back().bound != kUnbounded) return kUndefined;
    FallingBuckets falling;
    if (raise_falling(buckets_, falling)) {
      annotations_.inform_of_falling(falling, steps_.at(step), buckets_at_);
    }
    return quantile_of_buckets(quantile, buckets_);
  }

 private:
  const Steps& steps_;
  const Position buckets_at_;
  Annotations& annotations_;
  std::vector<Bucket> buckets_;
};

// The share of a histogram's values up to a limit, as a number of values.
class FractionRank {
 public:
  explicit FractionRank(double limit) : limit_(limit) {}

  // Called with each bucket; `begin` is the bound of the one before, `before` its count.
  void visit(double begin, double before, const Bucket& bucket) {
    if (known_) return;
    if (begin >= limit_) {
      known_ = true;
      rank_ = before;
    } else if (bucket.bound > limit_) {
      known_ = true;
      rank_ = begin == -kUnbounded
                  ? bucket.count
                  : before + (bucket.count - before) * (limit_ - begin) / (bucket.bound - begin);
    }
  }

  [[nodiscard]] double rank(double all) const { return !known_ || rank_ > all ? all : rank_; }

 private:
  double limit_;
  double rank_ = 0;
  bool known_ = false;
};

double fraction_of_buckets(double lower, double upper, const std::vector<Bucket>& buckets) {
  if (buckets.back().bound != kUnbounded) return kUndefined;
  const double all = buckets.back().count;
  if (all == 0 || std::isnan(lower) || std::isnan(upper)) return kUndefined;
  if (lower >= upper) return 0;
  FractionRank lower_rank(lower);
  FractionRank upper_rank(upper);
  double begin = buckets.front().bound <= 0 ? -kUnbounded : 0;
  double before = 0;
  for (const Bucket& bucket : buckets) {
    lower_rank.visit(begin, before, bucket);
    upper_rank.visit(begin, before, bucket);
    begin = bucket.bound;
    before = bucket.count;
  }
  return (upper_rank.rank(all) - lower_rank.rank(all)) / all;
}

// 0.5, 1.0, 1e-05
std::string quantile_label_text(double quantile) {
  std::string text = quantile == 0 ? "0" : general_text(quantile);
  if (std::isfinite(quantile) && text.find_first_of("e.") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Vector histogram_quantile(const Vector& buckets, std::span<const double> quantiles,
                          const Steps& steps, Position quantile_at, Position buckets_at,
                          Annotations& annotations) {
  for (const double quantile : quantiles) annotations.check_quantile(quantile, quantile_at);
  QuantileReader reader(steps, buckets_at, annotations);
  Vector result;
  for (Histogram& histogram : group_buckets(buckets, buckets_at, annotations)) {
    std::vector<double> values(steps.count);
    for (std::size_t i = 0; i < steps.count; ++i) {
      values[i] = reader.read(histogram, quantiles[i], i);
    }
    result.rows.push_back({.labels = std::move(histogram.labels), .values = std::move(values)});
  }
  return result;
}

Result<Vector> histogram_quantiles(const Vector& buckets, std::string_view label,
                                   std::span<const QuantileArgument> quantiles, const Steps& steps,
                                   Position buckets_at, std::size_t values_max, TextArena& texts,
                                   Annotations& annotations) {
  const std::vector<Histogram> histograms = group_buckets(buckets, buckets_at, annotations);
  QuantileReader reader(steps, buckets_at, annotations);
  Vector result;
  for (const QuantileArgument& argument : quantiles) {
    std::map<std::string, std::vector<std::size_t>> steps_of;  // by the text of the quantile
    for (std::size_t i = 0; i < steps.count; ++i) {
      annotations.check_quantile(argument.values[i], argument.at);
      steps_of[quantile_label_text(argument.values[i])].push_back(i);
    }
    const std::size_t rows = result.rows.size() + steps_of.size() * histograms.size();
    if (rows > values_max / steps.count) {
      return fail(Errc::kTooLarge,
                  fmt::format("histogram_quantiles() makes {} rows of {} values, more than {} "
                              "values; use constant quantiles",
                              rows, steps.count, values_max));
    }
    for (const auto& [text, places] : steps_of) {
      const std::string_view kept = texts.keep(text);
      for (const Histogram& histogram : histograms) {
        Row row{.labels = histogram.labels, .values = std::vector(steps.count, kAbsent)};
        row.labels.set(label, kept);
        for (const std::size_t i : places) {
          row.values[i] = reader.read(histogram, argument.values[i], i);
        }
        result.rows.push_back(std::move(row));
      }
    }
  }
  return result;
}

Vector histogram_fraction(const Vector& buckets, std::span<const double> lower,
                          std::span<const double> upper, const Steps& steps, Position buckets_at,
                          Annotations& annotations) {
  Vector result;
  std::vector<Bucket> at_step;
  for (Histogram& histogram : group_buckets(buckets, buckets_at, annotations)) {
    std::vector<double> values(steps.count, kAbsent);
    for (std::size_t i = 0; i < steps.count; ++i) {
      collect_buckets(histogram, i, at_step);
      if (!at_step.empty()) values[i] = fraction_of_buckets(lower[i], upper[i], at_step);
    }
    result.rows.push_back({.labels = std::move(histogram.labels), .values = std::move(values)});
  }
  return result;
}

}  // namespace halite::query::promql
