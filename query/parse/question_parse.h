// The two syntaxes of /api/query: URI parameters (question_uri.cc) and a JSON body
// (question_json.cc). Both end in a Question whose every name, number and time was checked, with
// OpenTSDB's error texts.
#pragma once

#include <string_view>

#include "common/result.h"
#include "query/parse/parse_context.h"
#include "query/question.h"

namespace halite::query {

// Errors have Errc::kInternal where OpenTSDB answers 500 to a mistake of the asker's (most of the
// URI's syntax): the message is what it says, the details are what was wanted and found where that
// does not say it. They have kInvalidArgument where it answers 400; their details are what its
// envelope says there.
[[nodiscard]] Result<Question> parse_question_uri(const Parameters& parameters,
                                                  const ParseContext& context);
[[nodiscard]] Result<Question> parse_question_json(std::string_view body,
                                                   const Parameters& parameters,
                                                   const ParseContext& context);

}  // namespace halite::query
