// Functions that change labels or the order of elements, not values.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/result.h"
#include "query/promql/eval/counted_work.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

// Of a value that a function makes. Prometheus has no limit.
inline constexpr std::size_t kLabelValueBytesMax = 1 << 20;

// The texts that a function makes. Their memory counts while it runs, and the budget is checked now
// and then. Errors are those of the budget. The references outlive it; not thread-safe.
class LabelTexts {
 public:
  LabelTexts(TextArena& arena, WorkBudget& budget) : arena_(arena), work_(budget) {}

  // That a value is read.
  [[nodiscard]] Result<void> look_at(std::string_view value) {
    return work_.values(1 + value.size());
  }
  // kTooLarge: `bytes` are more than a value or all texts may have.
  [[nodiscard]] Result<void> check_room(std::size_t bytes);
  [[nodiscard]] Result<std::string_view> keep(std::string text);

 private:
  TextArena& arena_;
  CountedWork work_;
};

// label_replace(v, "target", "replacement", "source", "regexp"). Rows with equal labels are not
// merged yet: see merge.h. kInvalidArgument: Prometheus' message.
[[nodiscard]] Result<void> label_replace(Vector& vector, std::string_view target,
                                         std::string_view replacement, std::string_view source,
                                         std::string_view regexp, std::size_t regexp_bytes_max,
                                         LabelTexts& texts);

[[nodiscard]] Result<void> label_join(Vector& vector, std::string_view target,
                                      std::string_view separator,
                                      std::span<const std::string_view> sources, LabelTexts& texts);

// sort(), sort_desc(): by the value of the first step, NaN last.
void sort_by_value(Vector& vector, bool descending);
// sort_by_label(): natural order of these labels, then all labels.
void sort_by_label(Vector& vector, std::span<const std::string_view> names, bool descending);

}  // namespace halite::query::promql
