// The body of POST /api/query.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/question_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halite::query;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  ParseContext context;
  context.now = kFuzzNow;
  const auto question = parse_question_json(body, {}, context);
  if (question) check_checked(*question);
  return 0;
}
