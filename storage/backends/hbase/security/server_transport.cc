#include "storage/backends/hbase/security/server_transport.h"

#include <memory>
#include <utility>

#include "storage/backends/hbase/security/kerberos_login.h"
#include "storage/backends/hbase/security/sasl_transport.h"
#include "storage/backends/hbase/security/tls_context.h"
#include "storage/backends/hbase/security/tls_transport.h"

namespace halite::storage::hbase {
namespace {

constexpr std::size_t kTokenOverhead = 64 << 10;  // what wrapping adds to an answer, at most

}  // namespace

MakeTransport server_transport(const ClientOptions& options) {
  std::shared_ptr<TlsContext> tls;
  if (options.tls.enabled) tls = std::make_shared<TlsContext>(options.tls);
  std::shared_ptr<Authenticator> login;
  if (options.kerberos.enabled) login = std::make_shared<KerberosLogin>(options.kerberos);
  const std::uint8_t protections = options.kerberos.protections;
  const std::size_t token_bytes_max = options.response_bytes_max + kTokenOverhead;
  return [=](const boost::asio::any_io_executor& strand, const std::string& host) {
    std::unique_ptr<Transport> transport = tcp_transport(strand);
    if (tls != nullptr) transport = tls_transport(std::move(transport), tls, host);
    if (login == nullptr) return transport;
    return sasl_transport(std::move(transport), {.host = host,
                                                 .authenticator = login,
                                                 .protections = protections,
                                                 .token_bytes_max = token_bytes_max});
  };
}

Result<void> check_security(const ClientOptions& options) {
  const KerberosOptions& kerberos = options.kerberos;
  if (kerberos.enabled && !kerberos.keytab.empty()) TRY_VOID(check_keytab(kerberos));
  if (!options.tls.enabled) return {};
  TRY_VOID(TlsContext(options.tls).current());
  return {};
}

}  // namespace halite::storage::hbase
