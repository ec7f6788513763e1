// Sums with Neumaier's compensation, as Prometheus adds.
//
// Compiled with -ffp-contract=off: a fused multiply-add would change results.
#pragma once

#include <cmath>
#include <span>

namespace halite::query::promql {

struct KahanSum {
  double sum = 0;
  double compensation = 0;

  void add(double x) {
    // Without branches, so that a loop over columns can be vectorized.
    const double total = sum + x;
    const bool is_larger = std::abs(sum) >= std::abs(x);
    const double lost = ((is_larger ? sum : x) - total) + (is_larger ? x : sum);
    compensation = std::isinf(total) ? 0 : compensation + lost;
    sum = total;
  }
  [[nodiscard]] double value() const { return sum + compensation; }
};

// The sum of values, added one by one. Faster than add() as long as nothing is infinite.
[[nodiscard]] inline KahanSum kahan_sum(std::span<const double> values) {
  double sum = 0;
  double compensation = 0;
  for (const double x : values) {
    const double total = sum + x;
    if (std::abs(sum) >= std::abs(x)) [[likely]] {
      compensation += (sum - total) + x;
    } else {
      compensation += (x - total) + sum;
    }
    sum = total;
  }
  // What was infinite once never becomes finite again.
  if (std::isfinite(sum)) return {.sum = sum, .compensation = compensation};
  KahanSum exact;
  for (const double x : values) exact.add(x);
  return exact;
}

// The mean of values, added one by one. If the sum overflows, it goes on with the mean itself.
class KahanMean {
 public:
  void add(double x) {
    count_ += 1;
    if (count_ == 1) {
      sum_ = {.sum = x};
      return;
    }
    if (!incremental_) {
      KahanSum next = sum_;
      next.add(x);
      if (!std::isinf(next.sum)) {
        sum_ = next;
        return;
      }
      incremental_ = true;
      sum_.sum /= count_ - 1;
      sum_.compensation /= count_ - 1;
    }
    const double part = (count_ - 1) / count_;
    sum_ = {.sum = part * sum_.sum, .compensation = part * sum_.compensation};
    sum_.add(x / count_);
  }
  [[nodiscard]] double value() const {
    if (incremental_) return sum_.value();
    return sum_.sum / count_ + sum_.compensation / count_;
  }

 private:
  KahanSum sum_;
  double count_ = 0;
  bool incremental_ = false;
};

}  // namespace halite::query::promql
