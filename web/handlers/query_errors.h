// How the query endpoints answer what went wrong while a query ran.
#pragma once

#include "web/endpoint.h"

namespace halite::web {

// OpenTSDB says 400 also for names that do not exist, and repeats the text as details.
[[nodiscard]] Response query_run_error(const Call& call, const Error& error);  // query.cc

}  // namespace halite::web
