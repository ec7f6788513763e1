// JSON in a function call, for pages that load it as a script: ?jsonp=fn -> fn(<json>)
#pragma once

#include "common/result.h"
#include "web/http/http_message.h"
#include "web/http/target.h"

namespace halite::web {

// kInvalidArgument: the function is not a plain name (letters, digits, _ $ . [ ]). Otherwise a
// request could make the server return any script.
[[nodiscard]] Result<void> check_jsonp(const Target& target);

// Wraps a JSON answer of the API if requested.
void wrap_jsonp(const Target& target, Response& response);

}  // namespace halite::web
