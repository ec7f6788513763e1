// Errors of a query that cannot be answered as it was asked.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "common/result.h"

namespace halite::query {

// OpenTSDB answers 400.
[[nodiscard]] inline std::unexpected<Error> refuse(std::string message) {
  return fail(Errc::kInvalidArgument, std::move(message));
}

// OpenTSDB reports it as its own fault, with 500.
[[nodiscard]] inline std::unexpected<Error> refuse_as_internal(std::string message) {
  return fail(Errc::kInternal, std::move(message));
}

}  // namespace halite::query
