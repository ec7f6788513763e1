#include "storage/backends/hbase/security/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include "common/log.h"
#include "common/tls/certificate_files.h"

namespace halite::storage::hbase {

Result<std::shared_ptr<SSL_CTX>> TlsContext::current() {
  const std::lock_guard lock(mutex_);
  const Stamps found = stamps();
  if (value_ != nullptr && found == seen_) return value_;
  Result<std::shared_ptr<SSL_CTX>> fresh = read();
  if (fresh) {
    if (value_ != nullptr) log::info("TLS to HBase: certificates reloaded");
    value_ = *fresh;
  } else if (value_ != nullptr) {
    log::error("TLS to HBase: the new certificates are invalid, the previous ones stay in use: {}",
               fresh.error().message);
  } else {
    return fresh;
  }
  seen_ = found;  // another attempt only after another change
  return value_;
}

TlsContext::Stamps TlsContext::stamps() const {
  return {FileStamp::of(options_.ca), FileStamp::of(options_.certificate),
          FileStamp::of(options_.key)};
}

Result<std::shared_ptr<SSL_CTX>> TlsContext::read() const {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (context == nullptr) return fail(Errc::kInternal, "TLS: " + take_openssl_error());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  ERR_clear_error();
  if (options_.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else {
    TRY_VOID(check_readable({"hbase.tls_ca", options_.ca}));
    if (SSL_CTX_load_verify_locations(context.get(), options_.ca.c_str(), nullptr) != 1) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("hbase.tls_ca = {}: no certificates in PEM form ({})", options_.ca,
                              take_openssl_error()));
    }
  }
  if (!options_.certificate.empty()) {
    TRY_VOID(use_certificate(context.get(), {"hbase.tls_certificate", options_.certificate},
                             {"hbase.tls_key", options_.key}));
  }
  return context;
}

}  // namespace halite::storage::hbase
