#include "storage/backends/hbase/security/kerberos_error.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace halite::storage::hbase {
namespace {

struct Advice {
  krb5_error_code code;
  std::string_view text;
};

constexpr std::string_view kOldKey =
    "the keytab has an older key than the KDC, because each ktadd makes a new one: create the "
    "keytab again";
constexpr std::string_view kServerName =
    "hbase.server_principal must be the servers' principal, with _HOST for the host name that "
    "hbase:meta has of them";
constexpr std::string_view kNoKdc =
    "check the realm in /etc/krb5.conf (KRB5_CONFIG) and whether its KDC can be reached";

constexpr auto kAdvice = std::to_array<Advice>({
    {KRB5KRB_AP_ERR_SKEW, "the clocks differ by more than 5 minutes: synchronise them (NTP)"},
    {KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN,
     "the KDC does not know this principal: check hbase.principal, or create it"},
    {KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, kServerName},
    {KRB5KDC_ERR_PREAUTH_FAILED, kOldKey},
    {KRB5KRB_AP_ERR_BAD_INTEGRITY, kOldKey},
    {KRB5_KT_NOTFOUND, "klist -k shows the principals of a keytab: check hbase.principal"},
    {KRB5_KT_BADNAME, "hbase.keytab must be a file"},
    {KRB5_FCC_NOFILE, "set hbase.keytab, or fill the cache by kinit"},
    {KRB5_CC_NOTFOUND, "set hbase.keytab, or fill the cache by kinit"},
    {KRB5KRB_AP_ERR_TKT_EXPIRED, "renew the ticket by kinit, or set hbase.keytab"},
    {KRB5_KDC_UNREACH, kNoKdc},
    {KRB5_REALM_UNKNOWN, kNoKdc},
    {KRB5_REALM_CANT_RESOLVE, kNoKdc},
    {KRB5_CONFIG_NODEFREALM, "write the realm into hbase.principal, or set default_realm"},
    {KRB5KDC_ERR_ETYPE_NOSUPP, "the KDC refuses the keytab's encryption types"},
    {KRB5_PROG_ETYPE_NOSUPP, "create the keytab with keys of current encryption types (AES)"},
});

}  // namespace

Error kerberos_error(std::string_view what, krb5_error_code code, std::string_view text) {
  const auto found = std::ranges::find(kAdvice, code, &Advice::code);
  std::string message = fmt::format("{}: {}", what, text);
  if (found != kAdvice.end()) message += fmt::format("; {}", found->text);
  return {Errc::kUnavailable, std::move(message), {}};
}

Error kerberos_error(std::string_view what, krb5_context context, krb5_error_code code) {
  const char* const text = krb5_get_error_message(context, code);
  Error error = kerberos_error(what, code, text);
  krb5_free_error_message(context, text);
  return error;
}

}  // namespace halite::storage::hbase
