#include "ingest/remote_write/remote_write.h"

#include <memory>
#include <utility>

#include "ingest/writer_context.h"

namespace halite::ingest {

Task<RemoteWriteOutcome> put_remote_write(Writer& writer, RemoteWriteVersion version, Bytes bytes) {
  const std::unique_ptr<RemoteWriteBody> body =
      make_remote_write_body(version, bytes, writer.context().rules.limits());
  BodyWriter bodies(writer);
  CO_TRY(BodyOutcome put, co_await bodies.put(*body, Protocol::kRemoteWrite));
  co_return RemoteWriteOutcome{.put = std::move(put), .seen = body->counts()};
}

}  // namespace halite::ingest
