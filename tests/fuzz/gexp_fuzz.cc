// One exp= of GET /api/query/gexp, in a request with it twice.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/clock.h"
#include "query/gexp/run.h"
#include "query/query_budget.h"
#include "tests/fuzz/question_input.h"

namespace halite::query {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ParseContext context;
  context.now = kFuzzNow;
  const auto question = parse_gexp_question(
      {{"start", "1h-ago"}, {"exp", text}, {"exp", "absolute(sum:m)"}}, context, {});
  if (!question) return 0;
  check_checked(question->question);
  Answer answer;
  answer.question = question->question;
  const FakeClock clock(kFuzzNow);
  QueryBudget budget({}, clock, {});
  const auto made = run_gexp(*question, answer, budget);
  HALITE_CHECK(!made || made->series.empty(), "nothing is made of nothing");
  return 0;
}

}  // namespace halite::query
