// Calls to the master and to the administration of region servers, tried again as long as it helps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/task.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/region.h"

namespace halite::storage::hbase {

// One call to the active master, whoever that is.
[[nodiscard]] Task<Reply> call_master(ClientContextPtr context, const char* method, Bytes message);

// Has the master begin a procedure, whose answer is its number, and waits for its end. The message
// carries a nonce, so that sending it twice begins one.
[[nodiscard]] Task<void> run_procedure(ClientContextPtr context, const char* method, Bytes message);

// One attempt.
[[nodiscard]] RemoteTask<Reply> call_region_server(ClientContextPtr context, Endpoint server,
                                                   const char* method, Bytes message,
                                                   std::uint32_t timeout_ms);

// A reply's message; kInternal when it is none.
template <class Message>
[[nodiscard]] Result<Message> read_message(const Reply& reply) {
  Message message;
  if (!message.ParseFromArray(reply.message.data(), static_cast<int>(reply.message.size()))) {
    return fail(Errc::kInternal, "HBase returned an invalid answer");
  }
  return message;
}

}  // namespace halite::storage::hbase
