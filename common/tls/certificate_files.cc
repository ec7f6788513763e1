#include "common/tls/certificate_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509err.h>

#include "common/file_reloader.h"

namespace halite {
namespace {

std::unexpected<Error> wrong(const SettingFile& file, std::string_view why) {
  return fail(Errc::kInvalidArgument, fmt::format("{} = {}: {}", file.setting, file.path, why));
}

// OpenSSL calls it for an encrypted key; otherwise it would ask at the terminal.
int no_passphrase(char*, int, int, void* encrypted) {
  *static_cast<bool*>(encrypted) = true;
  return 0;
}
int never_a_passphrase(char*, int, int, void*) { return 0; }

bool is_mismatch(std::uint64_t code) {
  const int reason = ERR_GET_REASON(code);
  return ERR_GET_LIB(code) == ERR_LIB_X509 &&
         (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
}

std::unexpected<Error> not_a_key(const SettingFile& key, bool encrypted) {
  const std::string reason = take_openssl_error();
  if (encrypted) {
    return wrong(key, fmt::format("the key is encrypted, and Halite asks for no passphrase; "
                                  "remove it with openssl pkey -in {} -out NEW",
                                  key.path));
  }
  return wrong(key, fmt::format("no private key in PEM form, which begins with -----BEGIN PRIVATE "
                                "KEY----- ({})",
                                reason));
}

// "2026-11-29 12:00:00 UTC".
std::string date_text(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown date";
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", parts);
}

}  // namespace

std::string take_openssl_error() {
  const std::uint64_t code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(code);
  return reason == nullptr ? fmt::format("error {}", code) : reason;
}

Result<void> check_readable(const SettingFile& file) {
  const FileStamp stamp = FileStamp::of(file.path);
  if (stamp.inode != 0 && !stamp.regular) return wrong(file, "not a regular file");
  if (::access(file.path.c_str(), R_OK) == 0) return {};
  const int why = errno;
  return wrong(file, fmt::format("{}; {}", std::generic_category().message(why),
                                 why == ENOENT ? "correct the path, or create the file"
                                               : "let the user that runs the server read it"));
}

Result<void> use_certificate(SSL_CTX* context, const SettingFile& certificate,
                             const SettingFile& key) {
  TRY_VOID(check_readable(certificate));
  TRY_VOID(check_readable(key));
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, certificate.path.c_str()) != 1) {
    return wrong(certificate,
                 fmt::format("no certificate in PEM form, which begins with -----BEGIN "
                             "CERTIFICATE----- ({})",
                             take_openssl_error()));
  }
  bool encrypted = false;
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &encrypted);
  const bool read = SSL_CTX_use_PrivateKey_file(context, key.path.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb(context, never_a_passphrase);  // the context outlives the flag
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (!read && !is_mismatch(ERR_peek_error())) return not_a_key(key, encrypted);
  // OpenSSL accepts a key of another kind than the certificate's until it is checked.
  if (!read || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return wrong(key, fmt::format("not the key of {} = {}; use the key with which it was requested",
                                  certificate.setting, certificate.path));
  }
  return {};
}

std::string date_warning(const SSL_CTX* context, const SettingFile& certificate) {
  constexpr std::time_t kSoonSeconds = 14 * 24 * 3600;
  const X509* const held = SSL_CTX_get0_certificate(context);
  const ASN1_TIME* const begin = X509_get0_notBefore(held);
  const ASN1_TIME* const end = X509_get0_notAfter(held);
  std::time_t now = std::time(nullptr);
  std::time_t soon = now + kSoonSeconds;
  const auto say = [&certificate](std::string_view what, const ASN1_TIME* when) {
    return fmt::format("{} = {}: the certificate {} {}", certificate.setting, certificate.path,
                       what, date_text(when));
  };
  if (X509_cmp_time(end, &now) < 0) return say("expired: clients refuse it since", end);
  if (X509_cmp_time(begin, &now) > 0)
    return say("is not valid yet: clients refuse it until", begin);
  if (X509_cmp_time(end, &soon) < 0) return say("expires soon: clients will refuse it from", end);
  return {};
}

}  // namespace halite
