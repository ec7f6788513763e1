// The settings of access control.

#include "app/settings/options.h"
#include "app/settings/setting_ranges.h"
#include "common/units.h"

namespace halite::app {

namespace {

void declare_tls(Config& config, web::TlsOptions& options) {
  config.text("tls.certificate", options.certificate,
              "PEM file with the server's certificate, then its intermediate certificates. Empty = "
              "no TLS.");
  config.text("tls.key", options.key, "PEM file with the private key of tls.certificate.");
  config.flag("tls.only", options.only,
              "Refuses connections without TLS. false = accepts both on one port.");
  config.duration_ms("tls.handshake_ms", options.handshake_ms, {1, kDayMs},
                     "Maximum time for a client to complete the TLS handshake.");
}

}  // namespace

void declare_access(Config& config, web::WebOptions& web) {
  declare_tls(config, web.tls);
  web::AccessOptions& options = web.access;
  config.text("auth.file", options.file,
              "File with users and tokens and their roles. Empty = no users and no tokens.");
  config.text(
      "auth.anonymous", options.anonymous,
      "Roles of clients without credentials: a comma-separated list of read, write and admin, or "
      "none. auto = admin on a loopback address without auth.file, none with auth.file.");
  config.count(
      "auth.failures_max", options.failures_max, kAtLeastOne, "failures",
      "Maximum failed logins per address within auth.failures_ms. Further logins get 429.");
  config.duration_ms("auth.failures_ms", options.failures_ms, {1, kDayMs},
                     "Time for which a failed login counts.");
  config.count("auth.addresses_max", options.addresses_max, kAtLeastOne, "addresses",
               "Maximum addresses with failed logins that are remembered. Above this limit, the "
               "oldest is dropped.");
  config.count("auth.passwords_waiting_max", options.passwords_waiting_max, kAtLeastOne,
               "passwords",
               "Maximum passwords that wait to be checked; they are checked one at a time. Further "
               "logins get 429.");
  config.count("auth.logins_kept_max", options.logins_kept_max, {0, 1'000'000}, "logins",
               "Maximum successful password logins that are cached, so that requests need no "
               "further check.");
  config.duration_ms("auth.logins_kept_ms", options.logins_kept_ms, {0, kDayMs},
                     "Time for which a successful password login is cached.");
  config.duration_ms(
      "auth.reload_ms", options.reload_ms, {0, kDayMs},
      "Interval between two checks of auth.file for changes. Values below 10 ms act as 10 ms.");
}

}  // namespace halite::app
