// Settings of who may do what.
#include <limits>

#include "app/options.h"
#include "common/units.h"

namespace halite::app {

namespace {

void declare_tls(Config& config, web::TlsOptions& options) {
  config.text("tls.certificate", options.certificate,
              "PEM file with the server's certificate and those above it; empty = no TLS. Read "
              "again when it changes.");
  config.text("tls.key", options.key, "PEM file with its private key.");
  config.flag("tls.only", options.only,
              "Who speaks without TLS is refused; off = both ways on the same port.");
  config.duration_ms("tls.handshake_ms", options.handshake_ms, {1, kDayMs},
                     "For a client's first words.");
}

}  // namespace

void declare_access(Config& config, web::WebOptions& web) {
  declare_tls(config, web.tls);
  web::AccessOptions& options = web.access;
  constexpr SettingRange kAtLeastOne = {1, std::numeric_limits<std::int64_t>::max()};
  config.text("auth.file", options.file,
              "Users and tokens with their roles (docs/operate/security.md); empty = there are none.");
  config.text(
      "auth.anonymous", options.anonymous,
      "What who does not say who they are may do: a comma list of read, write and admin, or "
      "none. auto = admin where auth.file is empty and only this machine can reach the "
      "server, none where there is a file.");
  config.count("auth.failures_max", options.failures_max, kAtLeastOne, "failures",
               "Logins of one address that may fail within auth.failures_ms; then 429.");
  config.duration_ms("auth.failures_ms", options.failures_ms, {1, kDayMs},
                     "How long failed logins of an address count.");
  config.count("auth.addresses_max", options.addresses_max, kAtLeastOne, "addresses",
               "Addresses whose failed logins are counted; then the oldest is forgotten.");
  config.count("auth.passwords_waiting_max", options.passwords_waiting_max, kAtLeastOne,
               "passwords", "To be checked, one after the other; then 429.");
  config.count("auth.logins_kept_max", options.logins_kept_max, {0, 1'000'000}, "logins",
               "Users whose password fitted, so that it is not checked with each request.");
  config.duration_ms("auth.logins_kept_ms", options.logins_kept_ms, {0, kDayMs},
                     "How long they are known.");
  config.duration_ms("auth.reload_ms", options.reload_ms, {0, kDayMs},
                     "How often auth.file is looked at for changes; at most every 10 ms.");
}

}  // namespace halite::app
