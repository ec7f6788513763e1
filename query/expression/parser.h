// Parses the text of an expression to a tree.
//
//   Lowest to highest: ;  =  ?: ? :  ||  &&  |  ^  &  == !=  < <= > >=  + -  * / %  - ! ~  ( )
//   Comparisons of one precedence cannot be chained: a < b < c is an error.
#pragma once

#include <string_view>

#include "common/result.h"
#include "query/expression/tree.h"

namespace halite::query {

// kInvalidArgument, with JEXL's message: a syntax error. kTooLarge: above a limit. kUnsupported:
// features of JEXL that Halite does not have (functions, members).
[[nodiscard]] Result<Expression> parse_expression(std::string_view text,
                                                  const ExpressionLimits& limits);

}  // namespace halite::query
