// One exp= of GET /api/query/gexp, in a request with it twice.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/clock.h"
#include "query/gexp/run.h"
#include "query/watch.h"
#include "tests/fuzz/question_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace query = halite::query;
  const std::string text(reinterpret_cast<const char*>(data), size);
  query::ParseContext context;
  context.now = query::kFuzzNow;
  const auto question = query::parse_gexp_question(
      {{"start", "1h-ago"}, {"exp", text}, {"exp", "absolute(sum:m)"}}, context, {});
  if (!question) return 0;
  query::check_checked(question->question);
  query::Answer answer;
  answer.question = question->question;
  const halite::FakeClock clock(query::kFuzzNow);
  query::Watch watch({}, clock, {});
  const auto made = query::run_gexp(*question, answer, watch);
  HALITE_CHECK(!made || made->series.empty(), "nothing is made of nothing");
  return 0;
}
