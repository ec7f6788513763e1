// The second step of parse_exp_question(): checks names, references and times of a parsed body.
#pragma once

#include "common/result.h"
#include "query/expression/exp_question.h"

namespace halite::query {

// Parses the expressions into `question`. Order of checks and messages are OpenTSDB's.
[[nodiscard]] Result<void> check_exp_question(ExpQuestion& question, const ParseContext& context,
                                              const ExpLimits& limits);

}  // namespace halite::query
