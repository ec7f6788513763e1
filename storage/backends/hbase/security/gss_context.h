// One GSSAPI context with the Kerberos mechanism.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gssapi/gssapi.h>

#include "storage/backends/hbase/security/authenticator.h"
#include "storage/backends/hbase/security/kerberos_credentials.h"

namespace halite::storage::hbase {

[[nodiscard]] gss_OID kerberos_mechanism();

// "WHAT: TEXT; ADVICE".
[[nodiscard]] Error gss_error(std::string_view what, OM_uint32 major, OM_uint32 minor);

class GssName {
 public:
  // Takes the name as it is: nothing asks DNS.
  static Result<GssName> of_principal(const std::string& principal);
  GssName() = default;
  ~GssName();
  GssName(GssName&& other) noexcept;
  GssName& operator=(GssName&& other) noexcept;

  [[nodiscard]] Result<std::string> text() const;
  [[nodiscard]] gss_name_t get() const { return name_; }  // GSS_C_NO_NAME if empty
  gss_name_t* put() { return &name_; }

 private:
  gss_name_t name_ = GSS_C_NO_NAME;
};

// May ask the KDC for a ticket to the server, and wait for it.
struct BegunContext {
  std::unique_ptr<SecurityContext> context;
  Bytes token;  // the first one, for the server
};
[[nodiscard]] Result<BegunContext> begin_gss_context(
    std::shared_ptr<const KerberosCredentials> credentials, const std::string& server);

}  // namespace halite::storage::hbase
