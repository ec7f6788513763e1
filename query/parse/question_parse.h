// The two syntaxes of /api/query: URI parameters (question_uri.cc) and a JSON body
// (question_json.cc). Both produce a Question with all names, numbers and times checked. Error
// messages are OpenTSDB's.
#pragma once

#include <string_view>

#include "common/result.h"
#include "query/parse/parse_context.h"
#include "query/question.h"

namespace halite::query {

// Where OpenTSDB answers 500 to a client's mistake (most of the URI's syntax), the error is
// Errc::kInternal. Its message is OpenTSDB's; its details add the expected and the found text if
// the message lacks them. Where OpenTSDB answers 400, the error is kInvalidArgument, and its
// details are those of OpenTSDB's error object.
[[nodiscard]] Result<Question> parse_question_uri(const Parameters& parameters,
                                                  const ParseContext& context);
[[nodiscard]] Result<Question> parse_question_json(std::string_view body,
                                                   const Parameters& parameters,
                                                   const ParseContext& context);

}  // namespace halite::query
