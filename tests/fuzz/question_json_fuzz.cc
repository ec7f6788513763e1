// The body of POST /api/query.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "query/parse/question_parse.h"
#include "tests/fuzz/question_input.h"

namespace halite::query {
namespace {

void ask_by_json(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  ParseContext context;
  context.now = kFuzzNow;
  const auto question = parse_question_json(body, {}, context);
  if (question) check_checked(*question);
}

}  // namespace
}  // namespace halite::query

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::query::ask_by_json(data, size);
  return 0;
}
