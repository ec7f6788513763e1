// Kerberos and TLS of the connections to masters and region servers. Each works without the other.
#pragma once

#include <cstdint>
#include <string>

namespace halite::storage::hbase {

// What protects the bytes of an authenticated connection. SASL calls it the quality of protection;
// the numbers are its bits.
enum class Protection : std::uint8_t {
  kAuthentication = 1,  // nothing: only the handshake is protected
  kIntegrity = 2,       // a checksum
  kPrivacy = 4,         // encryption
};
inline constexpr std::uint8_t kAnyProtection = 7;

struct KerberosOptions {
  bool enabled = false;
  // Where the tickets come from: a key that logs in and renews, or, if empty, a credentials cache
  // that others fill (kinit, k5start). It is read again for each connection.
  std::string keytab;             // a file
  std::string credentials_cache;  // such as FILE:/run/halite.cc; empty = KRB5CCNAME or the default
  // "halite/_HOST@REALM"; _HOST is the full name of this machine. Empty = the first one of the
  // keytab, or the owner of the cache.
  std::string principal;
  // _HOST is the server's name in hbase:meta. Without a realm, that of `principal`.
  std::string server_principal = "hbase/_HOST";
  // The bits of Protection that are allowed; the strongest one that the server offers is used.
  std::uint8_t protections = kAnyProtection;
};

struct TlsOptions {
  bool enabled = false;
  std::string ca;           // PEM file with the certificates to trust; empty = the system's
  std::string certificate;  // PEM file of this client, with its chain; empty = none
  std::string key;          // PEM file
  bool verify_host = true;  // whether the certificate must name the server as hbase:meta does
};

}  // namespace halite::storage::hbase
