// GET, POST /api/version and GET /version: the version of the server.
//
// Parameters  none
// Answer      200 {"version":"..","short_revision":"..",..}, all text; /version returns two lines
//             of text, or this JSON with ?json
// Errors      none
#include <array>
#include <utility>

#include "common/json_string.h"
#include "web/handlers/handlers.h"
#include "web/telnet/telnet_commands.h"

namespace halite::web {

namespace {

std::string version_json(const VersionInfo& version) {
  const std::array<std::pair<std::string_view, std::string>, 9> fields = {{
      {"short_revision", version.short_revision},
      {"repo", version.repo},
      {"host", version.host},
      {"version", version.version},
      {"full_revision", version.full_revision},
      {"repo_status", version.repo_status},
      {"user", version.user},
      {"branch", version.branch},
      {"timestamp", std::to_string(version.built_s)},
  }};
  std::string json = "{";
  for (const auto& [name, value] : fields) {
    if (json.size() > 1) json += ',';
    append_json_string(json, name);
    json += ':';
    append_json_string(json, value);
  }
  json += '}';
  return json;
}

}  // namespace

boost::asio::awaitable<Response> handle_version(Call& call) {
  const VersionInfo& version = call.services.version;
  if (call.target.api || call.target.has("json")) {
    co_return json_response(200, version_json(version));
  }
  co_return text_response(200, version_text(version));
}

}  // namespace halite::web
