// The second step of parse_exp_question(): names, references and times of a body that was read.
#pragma once

#include "common/result.h"
#include "query/expression/exp_question.h"

namespace halite::query {

// Parses the expressions and fills in `question`; OpenTSDB's order and texts.
[[nodiscard]] Result<void> check_exp_question(ExpQuestion& question, const ParseContext& context,
                                              const ExpLimits& limits);

}  // namespace halite::query
