#include "common/tls/client_tls.h"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include "common/tls/certificate_files.h"

namespace halite {

namespace ssl = boost::asio::ssl;

Result<std::shared_ptr<ssl::context>> make_client_tls(const std::string& ca_file) {
  auto tls = std::make_shared<ssl::context>(ssl::context::tls_client);
  boost::system::error_code error;
  if (ca_file.empty()) {
    tls->set_default_verify_paths(error);
  } else {
    tls->load_verify_file(ca_file, error);
  }
  if (!error) return tls;
  return fail(Errc::kInvalidArgument,
              fmt::format("cannot load trusted certificates{}: {}",
                          ca_file.empty() ? "" : " in " + ca_file, error.message()));
}

Result<void> require_host(SSL* connection, const std::string& host) {
  boost::system::error_code no_address;
  boost::asio::ip::make_address(host, no_address);
  X509_VERIFY_PARAM* const rules = SSL_get0_param(connection);
  const bool set = no_address ? SSL_set_tlsext_host_name(connection, host.c_str()) == 1 &&
                                    SSL_set1_host(connection, host.c_str()) == 1
                              : X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1;
  SSL_set_verify(connection, SSL_VERIFY_PEER, nullptr);
  if (set) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("\"{}\" is no name of a host: {}", host, take_openssl_error()));
}

std::string certificate_trouble(const SSL* connection) {
  const auto verdict = SSL_get_verify_result(connection);
  return verdict == X509_V_OK ? "" : X509_verify_cert_error_string(verdict);
}

}  // namespace halite
