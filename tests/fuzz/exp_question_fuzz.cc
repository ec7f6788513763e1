// The body of POST /api/query/exp.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "query/expression/exp_question.h"
#include "tests/fuzz/question_input.h"

namespace halite::query {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ParseContext context;
  context.now = kFuzzNow;
  const auto question = parse_exp_question(text, context, {});
  if (!question) return 0;
  check_checked(question->question);
  for (const ExpMetric& metric : question->metrics) {
    HALITE_CHECK(metric.query < question->question.queries.size(), "a metric has its sub-query");
  }
  return 0;
}

}  // namespace halite::query
