// The parameters of GET /api/query, "key=value&key=value", as they are after percent-decoding.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "query/parse/question_parse.h"
#include "query/parse/text.h"
#include "tests/fuzz/question_input.h"

namespace halite::query {
namespace {

void ask_by_uri(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Parameters parameters;
  for (const std::string_view pair : split_all(text, '&')) {
    const std::size_t equals = pair.find('=');
    parameters.emplace_back(pair.substr(0, equals),
                            equals == std::string_view::npos ? "" : pair.substr(equals + 1));
  }
  ParseContext context;
  context.now = kFuzzNow;
  const auto question = parse_question_uri(parameters, context);
  if (question) check_checked(*question);
}

}  // namespace
}  // namespace halite::query

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::query::ask_by_uri(data, size);
  return 0;
}
