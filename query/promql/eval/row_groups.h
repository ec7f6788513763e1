// Groups of rows by some of their labels: those of an aggregation, those of a vector matching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "query/promql/eval/key_numbers.h"
#include "query/promql/eval/labels.h"

namespace halite::query::promql {

class RowGroups {
 public:
  // `listed`: only the labels `names` matter. Otherwise all others do, but not __name__.
  RowGroups(std::vector<std::string> names, bool listed);

  // The group's number: 0, 1, ... in the order in which they first come.
  [[nodiscard]] std::uint32_t of(const Labels& labels);
  // That of a stored series, of which kNameLabels count only if `names_count`.
  [[nodiscard]] std::uint32_t of(const storage::Series& series, bool names_count);
  [[nodiscard]] std::size_t count() const { return numbers_.size(); }
  // Those that matter.
  [[nodiscard]] Labels reduce(Labels labels) const;

 private:
  void append_listed(const Labels& labels);
  void append_listed(const storage::Series& series, bool names_count);
  void append_others(const Labels& labels);

  std::vector<std::string> names_;  // sorted, each once
  bool listed_;
  KeyNumbers numbers_;
  std::string key_;
};

}  // namespace halite::query::promql
