// Text to tree.
//
//   Lowest to highest: ;  =  ?: ? :  ||  &&  |  ^  &  == !=  < <= > >=  + -  * / %  - ! ~  ( )
//   A comparison is not followed by another of its kind: a < b < c is an error.
#pragma once

#include <string_view>

#include "common/result.h"
#include "query/expression/tree.h"

namespace halite::query {

// kInvalidArgument in JEXL's words, kTooLarge past a limit, kUnsupported: what JEXL has and this
// has not (functions, members).
[[nodiscard]] Result<Expression> parse_expression(std::string_view text,
                                                  const ExpressionLimits& limits);

}  // namespace halite::query
