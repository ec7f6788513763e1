// SASL with the mechanism GSSAPI (RFC 4752) over another transport, as HBase frames it. connect()
// sends the preamble, authenticates, and chooses the protection; the connection's header and all
// that follows go through it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "storage/backends/hbase/rpc/transport.h"
#include "storage/backends/hbase/security/authenticator.h"

namespace halite::storage::hbase {

struct SaslSetup {
  std::string host;  // the server's name
  std::shared_ptr<Authenticator> authenticator;
  std::uint8_t protections = 0;     // bits of Protection that are allowed
  std::size_t token_bytes_max = 0;  // a longer token breaks the connection
};

[[nodiscard]] std::unique_ptr<Transport> sasl_transport(std::unique_ptr<Transport> under,
                                                        SaslSetup setup);

// "auth-int (hbase.rpc.protection = integrity)", several with commas.
[[nodiscard]] std::string protections_text(std::uint8_t protections);

}  // namespace halite::storage::hbase
