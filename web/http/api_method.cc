#include "web/http/api_method.h"

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "web/authorize.h"

namespace halite::web {

std::optional<Response> override_method(Call& call) {
  if (call.request.method != "GET") return std::nullopt;
  const std::string* wanted = call.target.find("method_override");
  if (wanted == nullptr) return std::nullopt;
  if (wanted->empty()) return error_response(call, 405, "Missing method override value");
  const std::string method = to_lower(*wanted);
  if (method == "get") return std::nullopt;
  if (method != "post" && method != "put" && method != "delete") {
    return error_response(call, 405, "Unknown or unsupported method override value");
  }
  if (std::optional<Response> refusal = refuse_write_by_get(call)) return refusal;
  call.request.method = method == "post" ? "POST" : method == "put" ? "PUT" : "DELETE";
  return std::nullopt;
}

std::optional<Response> refuse_write_by_get(Call& call) {
  if (call.request.method != "GET") return std::nullopt;
  if (call.options.get_may_write) return refuse_change(call, call.change_role);
  return error_response(call, 405, "GET requests cannot change data",
                        "Send a POST, PUT or DELETE, or set web.get_may_write = true");
}

Response method_not_allowed(const Call& call) {
  if (call.target.dialect == Dialect::kPrometheusJson) {
    return text_response(405, "Method Not Allowed\n");
  }
  return error_response(
      call, 405, "Method not allowed",
      fmt::format("The HTTP method [{}] is not permitted for this endpoint", call.request.method));
}

}  // namespace halite::web
