// The effective method of a request. As in OpenTSDB, a GET may contain
// method_override=get|post|put|delete, for clients that can only send GET.
//
// A GET changes no state unless web.get_may_write is on: other overrides are refused.
#pragma once

#include <optional>

#include "web/endpoint.h"

namespace halite::web {

// Sets call.request.method to the effective method. Returns the refusal, if any.
[[nodiscard]] std::optional<Response> override_method(Call& call);

// For endpoints that change state on a plain GET. Returns a refusal if that is off, or if the
// caller lacks the role.
[[nodiscard]] std::optional<Response> refuse_write_by_get(Call& call);

// 405 "Method not allowed", with the name of the method unless Prometheus would not say it.
[[nodiscard]] Response method_not_allowed(const Call& call);

}  // namespace halite::web
