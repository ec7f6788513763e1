// Warnings and infos that an answer carries, each text once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// Buckets of a histogram whose counts fell, which they must not.
struct FallingBuckets {
  double bound_min = 0;  // of the buckets that were raised
  double bound_max = 0;
  double difference_max = 0;
};

class Annotations {
 public:
  // `expression` is the text of the query; it outlives this.
  explicit Annotations(std::string_view expression) : expression_(expression) {}

  // `message` without "PromQL warning: " or "PromQL info: ".
  void warn(std::string_view message, Position at);
  void inform(std::string_view message, Position at);
  // Warns of a quantile that is not in [0, 1].
  void check_quantile(double quantile, Position at);
  // The input of histogram_quantile() at one time. All of a query become one info.
  void inform_of_falling(const FallingBuckets& buckets, TimestampMs time, Position at);

  // At most 10, then a line that counts the others up to 1000 of a kind. As Prometheus writes them,
  // with (1:5) at the end.
  [[nodiscard]] std::vector<std::string> warnings() const;
  [[nodiscard]] std::vector<std::string> infos() const;
  // Whether a text counts others, or tells of several times. If not, each text of some steps is
  // also one of all steps.
  [[nodiscard]] bool depend_on_all_steps() const;

 private:
  using Texts = std::map<std::string, Position, std::less<>>;  // of the last one with this text

  struct Falling {
    FallingBuckets buckets;
    TimestampMs first = 0;
    TimestampMs last = 0;
    std::size_t count = 0;
    Position at;
  };
  [[nodiscard]] std::string text(const Falling& falling) const;
  [[nodiscard]] std::string with_position(std::string_view message, Position at) const;

  std::string_view expression_;
  Texts warnings_;
  Texts infos_;
  std::optional<Falling> falling_;
};

}  // namespace halite::query::promql
