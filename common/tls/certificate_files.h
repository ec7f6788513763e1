// Reads a certificate and its key from PEM files into an OpenSSL context.
//
//   Errors  kInvalidArgument names the setting, the file, and what to do.
#pragma once

#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include "common/result.h"

namespace halite {

// A file, and the setting that names it.
struct SettingFile {
  std::string_view setting;
  std::string path;
};

[[nodiscard]] Result<void> check_readable(const SettingFile& file);

// The certificate comes first in its file, then its intermediate certificates.
[[nodiscard]] Result<void> use_certificate(SSL_CTX* context, const SettingFile& certificate,
                                           const SettingFile& key);

// Why clients refuse the context's certificate, or will within two weeks: its dates. Empty: they
// do not.
[[nodiscard]] std::string date_warning(const SSL_CTX* context, const SettingFile& certificate);

// The text of OpenSSL's oldest error; clears all.
[[nodiscard]] std::string take_openssl_error();

}  // namespace halite
