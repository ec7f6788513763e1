#include "app/tools/ready_tool.h"

#include <utility>

#include <fmt/format.h>

#include "common/threads/run_here.h"

namespace halite::app {

Result<std::string> ask_ready(const ReadyFlags& flags) {
  TRY(const Peer server, make_peer(flags.url, flags.files));
  const HttpLimits limits{.timeout_ms = flags.timeout_ms, .body_bytes_max = 64U << 10};
  TRY(HttpReply reply, run_here(send_http(server, {.target = "/-/ready", .body = {}}, limits)));
  while (reply.body.ends_with('\n')) reply.body.pop_back();
  if (reply.status != 200) {
    return fail(Errc::kUnavailable, fmt::format("{} is not ready: it answered {}: {}", flags.url,
                                                reply.status, reply.body.substr(0, 200)));
  }
  return std::move(reply.body);
}

}  // namespace halite::app
