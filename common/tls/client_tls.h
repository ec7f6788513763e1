// TLS of clients.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

#include "common/result.h"

namespace halite {

// A context for clients that trusts the CAs in `ca_file` (PEM); those of the system if it is empty.
// kInvalidArgument: they cannot be loaded.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_client_tls(
    const std::string& ca_file);

// Tells the server which host is meant, and demands a certificate that is valid for it. `host` is a
// name or an address.
[[nodiscard]] Result<void> require_host(SSL* connection, const std::string& host);

// Why the certificate of the peer is not trusted; empty: it is, or none was checked.
[[nodiscard]] std::string certificate_trouble(const SSL* connection);

}  // namespace halite
