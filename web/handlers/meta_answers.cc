#include "web/handlers/meta_answers.h"

#include <fmt/format.h>

namespace halite::web {

Response status_only(int status) { return json_response(status, ""); }

Response missing_parameter(const Call& call, std::string_view name) {
  return error_response(call, 400, fmt::format("Missing parameter <code>{}</code>", name));
}

Response missing_content(const Call& call) {
  return error_response(call, 400, "Missing message content",
                        "Supply valid JSON formatted data in the body of your request");
}

Response wrong_argument(const Call& call, const Error& error) {
  return error_response(call, 400, error.message, error.message);
}

Response save_error(const Call& call, std::string_view what, const Error& error) {
  if (error.code == Errc::kInvalidArgument) return wrong_argument(call, error);
  if (error.code == Errc::kConflict) {
    return error_response(call, 500, fmt::format("Failed to save the {} to storage", what),
                          "This may be caused by another process modifying storage data");
  }
  return error_response(call, error);
}

}  // namespace halite::web
