// Warnings and infos that an answer carries, each text once.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "query/promql/tree.h"

namespace halite::query::promql {

class Annotations {
 public:
  // `expression` is the text of the query; it outlives this.
  explicit Annotations(std::string_view expression) : expression_(expression) {}

  // `message` without "PromQL warning: " or "PromQL info: ".
  void warn(std::string_view message, Position at);
  void inform(std::string_view message, Position at);

  // At most 10, then a line that counts the others. As Prometheus writes them, with (1:5) at the
  // end.
  [[nodiscard]] std::vector<std::string> warnings() const;
  [[nodiscard]] std::vector<std::string> infos() const;

 private:
  std::string_view expression_;
  std::set<std::string> warnings_;
  std::set<std::string> infos_;
};

}  // namespace halite::query::promql
