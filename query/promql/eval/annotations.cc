#include "query/promql/eval/annotations.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "query/promql/go_text.h"
#include "query/promql/number_text.h"
#include "query/promql/parse.h"

namespace halite::query::promql {
namespace {

constexpr std::size_t kAnnotationsMax = 10;
constexpr std::size_t kTextsMax = 1000;  // of each kind; further ones are not even counted

template <class Texts>
void keep(Texts& texts, std::string text, Position at) {
  if (texts.size() == kTextsMax && !texts.contains(text)) return;
  texts.insert_or_assign(std::move(text), at);
}

std::vector<std::string> first_annotations(std::vector<std::string> all, std::string_view kind) {
  if (all.size() <= kAnnotationsMax) return all;
  const std::size_t omitted = all.size() - kAnnotationsMax;
  all.resize(kAnnotationsMax);
  all.push_back(fmt::format("{} more {} annotations omitted", omitted, kind));
  return all;
}

}  // namespace

void Annotations::warn(std::string_view message, Position at) {
  keep(warnings_, fmt::format("PromQL warning: {}", message), at);
}

void Annotations::inform(std::string_view message, Position at) {
  keep(infos_, fmt::format("PromQL info: {}", message), at);
}

void Annotations::check_quantile(double quantile, Position at) {
  // It may be another one at each of millions of steps.
  if ((quantile >= 0 && quantile <= 1) || warnings_.size() == kTextsMax) return;
  warn(fmt::format("quantile value should be between 0 and 1, got {}", general_text(quantile)), at);
}

void Annotations::inform_of_falling(const FallingBuckets& buckets, TimestampMs time, Position at) {
  if (!falling_) {
    falling_ = {.buckets = buckets, .first = time, .last = time, .count = 1, .at = at};
    return;
  }
  FallingBuckets& all = falling_->buckets;
  all.bound_min = std::min(all.bound_min, buckets.bound_min);
  all.bound_max = std::max(all.bound_max, buckets.bound_max);
  all.difference_max = std::max(all.difference_max, buckets.difference_max);
  falling_->first = std::min(falling_->first, time);
  falling_->last = std::max(falling_->last, time);
  falling_->count += 1;
}

std::string Annotations::with_position(std::string_view message, Position at) const {
  return fmt::format("{} ({})", message, line_and_column(expression_, at.begin));
}

std::string Annotations::text(const Falling& falling) const {
  const std::string message = fmt::format(
      "PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see "
      "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), from "
      "buckets {} to {}, with a max diff of {}, over {} samples from {} to {}",
      general_text(falling.buckets.bound_min), general_text(falling.buckets.bound_max),
      rounded_text(falling.buckets.difference_max, 2), falling.count, rfc3339_text(falling.first),
      rfc3339_text(falling.last));
  return with_position(message, falling.at);
}

std::vector<std::string> Annotations::warnings() const {
  std::vector<std::string> all;
  for (const auto& [message, at] : warnings_) all.push_back(with_position(message, at));
  return first_annotations(std::move(all), "warning");
}

std::vector<std::string> Annotations::infos() const {
  std::vector<std::string> all;
  if (falling_) all.push_back(text(*falling_));
  for (const auto& [message, at] : infos_) all.push_back(with_position(message, at));
  return first_annotations(std::move(all), "info");
}

bool Annotations::depend_on_all_steps() const {
  return falling_ || infos_.size() > kAnnotationsMax || warnings_.size() > kAnnotationsMax;
}

}  // namespace halite::query::promql
