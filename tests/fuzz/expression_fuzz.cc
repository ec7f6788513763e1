// The text of an expression: what parses can be computed, and is the same once printed and parsed
// again.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "query/expression/evaluate.h"
#include "query/expression/parser.h"
#include "query/expression/print.h"

namespace halite::query {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ExpressionLimits limits{.bytes_max = 1024, .depth_max = 32};
  const auto expression = parse_expression(text, limits);
  if (!expression) {
    HALITE_CHECK(!expression.error().message.empty(), "a refusal says why");
    return 0;
  }
  const std::vector<double> values(expression->variables.size(), 1.5);
  const auto first = ExpressionRun(*expression)(values);
  const std::string printed = print_expression(*expression).text;
  const auto again =
      parse_expression(printed, {.bytes_max = printed.size(), .depth_max = limits.depth_max});
  HALITE_CHECK(again.has_value(), "what was printed parses");
  const auto second = ExpressionRun(*again)(values);
  HALITE_CHECK(first.has_value() == second.has_value(), "what was printed means the same");
  HALITE_CHECK(!first || *first == *second || (*first != *first && *second != *second),
               "what was printed has the same value");
  return 0;
}

}  // namespace halite::query
