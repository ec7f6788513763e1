// The method a request asks for: OpenTSDB lets a GET say method_override=get|post|put|delete, for
// clients that can send nothing else.
//
// No state changes on a GET unless web.get_may_write is on: such overrides are refused then.
#pragma once

#include <optional>
#include <string_view>

#include "web/endpoint.h"

namespace halite::web {

// Puts the method asked for into call.request.method. The answer is a refusal, if there is one.
[[nodiscard]] std::optional<Response> override_method(Call& call);

// For endpoints that change something on a plain GET: the refusal, where that is not switched on,
// or the caller may not change anything here.
[[nodiscard]] std::optional<Response> refuse_write_by_get(Call& call);

// 405 "Method not allowed", naming the method.
[[nodiscard]] Response method_not_allowed(const Call& call);

}  // namespace halite::web
