// Forms in the bodies of requests.
#pragma once

#include "common/result.h"
#include "web/http/http_message.h"
#include "web/http/target.h"

namespace halite::web {

// Whether the Content-Type is application/x-www-form-urlencoded or multipart/form-data.
[[nodiscard]] bool has_form(const Request& request);

// The fields of the form in order; files are left out. Empty if the body is no form.
// kInvalidArgument: an invalid escape, or a multipart body that does not end or has no boundary.
[[nodiscard]] Result<Parameters> form_fields(const Request& request);

}  // namespace halite::web
