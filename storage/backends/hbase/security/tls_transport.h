// TLS over another transport, as a client. OpenSSL works on memory; only the transport below waits.
#pragma once

#include <memory>
#include <string>

#include "storage/backends/hbase/rpc/transport.h"
#include "storage/backends/hbase/security/tls_context.h"

namespace halite::storage::hbase {

// `host` is the name that the server's certificate must have.
[[nodiscard]] std::unique_ptr<Transport> tls_transport(std::unique_ptr<Transport> under,
                                                       std::shared_ptr<TlsContext> context,
                                                       std::string host);

}  // namespace halite::storage::hbase
