// The transport to masters and region servers: TCP, then TLS, then Kerberos, as the options say.
#pragma once

#include "common/result.h"
#include "storage/backends/hbase/rpc/options.h"
#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {

// Its transports share one Kerberos login. Destroy the last copy where waiting is fine:
// kerberos_login.h.
[[nodiscard]] MakeTransport server_transport(const ClientOptions& options);

// Reads all files that the options name. kInvalidArgument says which setting is wrong. Asks no
// server and no KDC.
[[nodiscard]] Result<void> check_security(const ClientOptions& options);

}  // namespace halite::storage::hbase
