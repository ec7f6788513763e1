// A ticket to get tickets, from a keytab or a credentials cache.
//
//   Threads  make() asks the KDC if there is a keytab, and may wait for it for many seconds. The
//            rest waits for nothing.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <gssapi/gssapi.h>
#include <krb5.h>

#include "common/result.h"
#include "storage/backends/hbase/rpc/security_options.h"

namespace halite::storage::hbase {

class KerberosCredentials {
 public:
  // Errors are kUnavailable and say what failed.
  static Result<std::shared_ptr<const KerberosCredentials>> make(const KerberosOptions& options);
  ~KerberosCredentials();
  KerberosCredentials(const KerberosCredentials&) = delete;
  KerberosCredentials& operator=(const KerberosCredentials&) = delete;

  [[nodiscard]] gss_cred_id_t handle() const { return handle_; }
  [[nodiscard]] const std::string& principal() const { return principal_; }  // with its realm
  [[nodiscard]] std::chrono::seconds life() const { return life_; }  // that remained in make()

 private:
  KerberosCredentials() = default;
  Result<void> log_in(const KerberosOptions& options);
  Result<void> acquire(const KerberosOptions& options, const std::string& cache);

  krb5_context context_ = nullptr;
  krb5_ccache cache_ = nullptr;  // in memory; null = not ours
  gss_cred_id_t handle_ = GSS_C_NO_CREDENTIAL;
  std::string principal_;
  std::chrono::seconds life_{0};
};

// Whether the keytab can be read and has the principal. kInvalidArgument names both. Asks no KDC.
[[nodiscard]] Result<void> check_keytab(const KerberosOptions& options);

// The principal of a server: _HOST becomes its name in lower case; `realm` is added if it has none.
[[nodiscard]] std::string server_principal(std::string_view pattern, std::string_view host,
                                           std::string_view realm);

// "halite/_HOST@REALM" with the full name of this machine.
[[nodiscard]] std::string own_principal(const std::string& pattern);

}  // namespace halite::storage::hbase
