// Calls to the master and to region servers' administration, with retries.
#pragma once

#include <cstdint>

#include "common/threads/task.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/region.h"

namespace halite::storage::hbase {

// One call to the active master.
[[nodiscard]] Task<Reply> call_master(ClientContextPtr context, const char* method, Bytes message);

// Starts a procedure of the master, which answers its number, and waits for its end. The message
// has a nonce, so a repeated message starts only one procedure.
[[nodiscard]] Task<void> run_procedure(ClientContextPtr context, const char* method, Bytes message);

// One attempt, without retries.
[[nodiscard]] RemoteTask<Reply> call_region_server(ClientContextPtr context, Endpoint server,
                                                   const char* method, Bytes message,
                                                   std::uint32_t timeout_ms);

// Parses a reply's message; kInternal if it does not parse.
template <class Message>
[[nodiscard]] Result<Message> read_message(const Reply& reply) {
  Message message;
  if (!message.ParseFromArray(reply.message.data(), static_cast<int>(reply.message.size()))) {
    return fail(Errc::kInternal, "HBase returned an invalid answer");
  }
  return message;
}

}  // namespace halite::storage::hbase
