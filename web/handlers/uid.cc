// GET, POST, PUT, DELETE /api/uid/..: names and their ids.
//
// Pages       assign (uid_assign.cc), rename (uid_rename.cc), uidmeta (uid_meta.cc), tsmeta
//             (ts_meta.cc). These files describe parameters, answers and errors
// Errors      501 any other page, or none
#include "common/bytes/ascii.h"
#include "web/handlers/handlers.h"

namespace halite::web {

namespace asio = boost::asio;

asio::awaitable<Response> handle_uid(Call& call) {
  const std::string what = call.target.rest.empty() ? "" : to_lower(call.target.rest[0]);
  if (what == "assign") co_return co_await handle_uid_assign(call);
  if (what == "rename") co_return co_await handle_uid_rename(call);
  if (what == "uidmeta") co_return co_await handle_uid_meta(call);
  if (what == "tsmeta") co_return co_await handle_ts_meta(call);
  co_return error_response(call, 501, "Other UID endpoints have not been implemented yet");
}

}  // namespace halite::web
