#include "web/connection/tls.h"

#include <system_error>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include <boost/asio/ssl/impl/src.hpp>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509err.h>

namespace halite::web {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::chrono::milliseconds kLookAgain(1'000);
constexpr std::string_view kCertificate = "tls.certificate";
constexpr std::string_view kKey = "tls.key";

std::unexpected<Error> wrong(std::string_view setting, const std::string& path,
                             std::string_view why) {
  return fail(Errc::kInvalidArgument, fmt::format("{} = {}: {}", setting, path, why));
}

// Why the file cannot be used, before OpenSSL reads it; empty if it is readable.
std::string why_unreadable(const std::string& path) {
  const FileStamp stamp = FileStamp::of(path);
  if (stamp.inode != 0 && !stamp.regular) return "not a regular file";
  if (::access(path.c_str(), R_OK) == 0) return {};
  const int why = errno;
  return fmt::format("{}; {}", std::generic_category().message(why),
                     why == ENOENT ? "correct the path, or create the file"
                                   : "let the user that runs the server read it");
}

std::string why_no_key(const TlsOptions& options, const boost::system::error_code& error,
                       bool encrypted) {
  if (encrypted) {
    return fmt::format(
        "the key is encrypted, and Halite asks for no passphrase; remove it with openssl pkey -in "
        "{} -out NEW",
        options.key);
  }
  return fmt::format(
      "no private key in PEM form, which begins with -----BEGIN PRIVATE KEY----- ({})",
      error.message());
}

std::string not_its_key(const TlsOptions& options) {
  return fmt::format("not the key of {} = {}; use the key with which it was requested",
                     kCertificate, options.certificate);
}

bool is_mismatch(const boost::system::error_code& error) {
  const auto code = static_cast<unsigned long>(error.value());
  const int reason = ERR_GET_REASON(code);
  return ERR_GET_LIB(code) == ERR_LIB_X509 &&
         (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
}

}  // namespace

Result<std::shared_ptr<ssl::context>> Tls::read() const {
  for (const auto& [setting, path] :
       {std::pair(kCertificate, options_.certificate), std::pair(kKey, options_.key)}) {
    if (const std::string why = why_unreadable(path); !why.empty()) {
      return wrong(setting, path, why);
    }
  }
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1,
                       error);
  if (!error) context->use_certificate_chain_file(options_.certificate, error);
  if (error) {
    return wrong(kCertificate, options_.certificate,
                 fmt::format("no certificate in PEM form, which begins with -----BEGIN "
                             "CERTIFICATE----- ({})",
                             error.message()));
  }
  // Without it OpenSSL asks at the terminal.
  bool encrypted = false;
  const auto no_passphrase = [&encrypted](std::size_t, ssl::context::password_purpose) {
    encrypted = true;
    return std::string();
  };
  boost::system::error_code unset;
  context->set_password_callback(no_passphrase, unset);
  context->use_private_key_file(options_.key, ssl::context::pem, error);
  if (error && !is_mismatch(error)) {
    return wrong(kKey, options_.key, why_no_key(options_, error, encrypted));
  }
  // OpenSSL accepts a key of another kind than the certificate's until it is checked.
  if (error || SSL_CTX_check_private_key(context->native_handle()) != 1) {
    ERR_clear_error();
    return wrong(kKey, options_.key, not_its_key(options_));
  }
  // The server's context outlives the flag.
  context->set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string(); }, unset);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  return context;
}

Result<void> Tls::check() const {
  if (!on()) {
    if (options_.key.empty()) return {};
    return fail(Errc::kInvalidArgument, "tls.key is set and tls.certificate is not");
  }
  if (options_.key.empty()) {
    return fail(Errc::kInvalidArgument, "tls.certificate is set and tls.key is not");
  }
  TRY_VOID(read());
  return {};
}

Result<void> Tls::load() {
  TRY_VOID(check());
  if (!on()) return {};
  const auto taken = [this](const ssl::context&) {
    return fmt::format("certificate reloaded from {}", options_.certificate);
  };
  return context_.start({.paths = {options_.certificate, options_.key},
                         .read = [this] { return read(); },
                         .taken = taken,
                         .refused = "the new certificate is invalid"},
                        kLookAgain);
}

}  // namespace halite::web
