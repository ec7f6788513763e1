#include "storage/backends/hbase/security/kerberos_credentials.h"

#include <netdb.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>

#include "common/bytes/ascii.h"
#include "common/tls/certificate_files.h"
#include "storage/backends/hbase/security/gss_context.h"
#include "storage/backends/hbase/security/kerberos_error.h"

namespace halite::storage::hbase {
namespace {

constexpr std::string_view kHost = "_HOST";

// Frees what a function of the library has made.
template <class T, auto kFree>
class Owned {
 public:
  explicit Owned(krb5_context context) : context_(context) {}
  ~Owned() {
    if (value_ != nullptr) kFree(context_, value_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] T get() const { return value_; }
  T* put() { return &value_; }

 private:
  const krb5_context context_;
  T value_ = nullptr;
};
using Principal = Owned<krb5_principal, krb5_free_principal>;
using Keytab = Owned<krb5_keytab, krb5_kt_close>;

class Context {
 public:
  Result<void> open() {
    const krb5_error_code code = krb5_init_context(&value_);
    if (code == 0) return {};
    return std::unexpected(kerberos_error("Kerberos, /etc/krb5.conf", nullptr, code));
  }
  ~Context() {
    if (value_ != nullptr) krb5_free_context(value_);
  }
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  [[nodiscard]] krb5_context get() const { return value_; }

 private:
  krb5_context value_ = nullptr;
};

std::string text_of(krb5_context context, krb5_const_principal principal) {
  char* text = nullptr;
  if (krb5_unparse_name(context, principal, &text) != 0) return "?";
  std::string copy = text;
  krb5_free_unparsed_name(context, text);
  return copy;
}

std::string machine_name() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  addrinfo hints = {};
  hints.ai_flags = AI_CANONNAME;
  addrinfo* found = nullptr;
  std::string full = name.data();
  if (::getaddrinfo(name.data(), nullptr, &hints, &found) == 0) {
    if (found->ai_canonname != nullptr) full = found->ai_canonname;
    ::freeaddrinfo(found);
  }
  return to_lower(full);
}

// The first principal of the keytab.
krb5_error_code first_principal(krb5_context context, krb5_keytab keytab, krb5_principal* to) {
  krb5_kt_cursor cursor = nullptr;
  if (const krb5_error_code code = krb5_kt_start_seq_get(context, keytab, &cursor)) return code;
  krb5_keytab_entry entry = {};
  krb5_error_code code = krb5_kt_next_entry(context, keytab, &entry, &cursor);
  if (code == 0) {
    code = krb5_copy_principal(context, entry.principal, to);
    krb5_free_keytab_entry_contents(context, &entry);
  } else if (code == KRB5_KT_END) {
    code = KRB5_KT_NOTFOUND;
  }
  krb5_kt_end_seq_get(context, keytab, &cursor);
  return code;
}

// Opens the keytab and chooses the principal.
Result<void> open_keytab(krb5_context context, const KerberosOptions& options, Keytab& keytab,
                         Principal& principal) {
  const std::string what = fmt::format("hbase.keytab = {}", options.keytab);
  const std::string name = "FILE:" + options.keytab;
  krb5_error_code code = krb5_kt_resolve(context, name.c_str(), keytab.put());
  if (code != 0) return std::unexpected(kerberos_error(what, context, code));
  if (options.principal.empty()) {
    code = first_principal(context, keytab.get(), principal.put());
    if (code != 0) return std::unexpected(kerberos_error(what, context, code));
    return {};
  }
  const std::string own = own_principal(options.principal);
  code = krb5_parse_name(context, own.c_str(), principal.put());
  if (code == 0) return {};
  return std::unexpected(kerberos_error(fmt::format("hbase.principal = {}", own), context, code));
}

}  // namespace

std::string own_principal(const std::string& pattern) {
  const std::size_t at = pattern.find(kHost);
  if (at == std::string::npos) return pattern;
  return std::string(pattern).replace(at, kHost.size(), machine_name());
}

std::string server_principal(std::string_view pattern, std::string_view host,
                             std::string_view realm) {
  std::string principal(pattern);
  const std::size_t at = principal.find(kHost);
  if (at != std::string::npos) principal.replace(at, kHost.size(), to_lower(host));
  if (!principal.contains('@')) principal += fmt::format("@{}", realm);
  return principal;
}

Result<void> check_keytab(const KerberosOptions& options) {
  TRY_VOID(halite::check_readable({"hbase.keytab", options.keytab}));
  const auto invalid = [](Error error) {
    error.code = Errc::kInvalidArgument;
    return std::unexpected(std::move(error));
  };
  Context context;
  if (Result<void> opened = context.open(); !opened) return invalid(opened.error());
  Keytab keytab(context.get());
  Principal principal(context.get());
  if (Result<void> opened = open_keytab(context.get(), options, keytab, principal); !opened) {
    return invalid(opened.error());
  }
  krb5_keytab_entry entry = {};
  const krb5_error_code code =
      krb5_kt_get_entry(context.get(), keytab.get(), principal.get(), 0, 0, &entry);
  if (code != 0) {
    return invalid(
        kerberos_error(fmt::format("hbase.keytab = {}", options.keytab), context.get(), code));
  }
  krb5_free_keytab_entry_contents(context.get(), &entry);
  return {};
}

Result<std::shared_ptr<const KerberosCredentials>> KerberosCredentials::make(
    const KerberosOptions& options) {
  std::shared_ptr<KerberosCredentials> made(new KerberosCredentials);
  if (options.keytab.empty()) {
    TRY_VOID(made->acquire(options, options.credentials_cache));
  } else {
    TRY_VOID(made->log_in(options));
  }
  return made;
}

KerberosCredentials::~KerberosCredentials() {
  OM_uint32 ignored = 0;
  gss_release_cred(&ignored, &handle_);
  if (cache_ != nullptr) krb5_cc_destroy(context_, cache_);
  if (context_ != nullptr) krb5_free_context(context_);
}

Result<void> KerberosCredentials::log_in(const KerberosOptions& options) {
  krb5_error_code code = krb5_init_context(&context_);
  if (code != 0) {
    return std::unexpected(kerberos_error("Kerberos, /etc/krb5.conf", nullptr, code));
  }
  Keytab keytab(context_);
  Principal principal(context_);
  TRY_VOID(open_keytab(context_, options, keytab, principal));
  const std::string what = fmt::format("Kerberos login of {} with {}",
                                       text_of(context_, principal.get()), options.keytab);
  code = krb5_cc_new_unique(context_, "MEMORY", nullptr, &cache_);
  if (code != 0) return std::unexpected(kerberos_error(what, context_, code));
  Owned<krb5_get_init_creds_opt*, krb5_get_init_creds_opt_free> login(context_);
  code = krb5_get_init_creds_opt_alloc(context_, login.put());
  if (code == 0) code = krb5_get_init_creds_opt_set_out_ccache(context_, login.get(), cache_);
  krb5_creds ticket = {};
  if (code == 0) {
    code = krb5_get_init_creds_keytab(context_, &ticket, principal.get(), keytab.get(), 0, nullptr,
                                      login.get());
  }
  if (code != 0) return std::unexpected(kerberos_error(what, context_, code));
  krb5_free_cred_contents(context_, &ticket);
  char* name = nullptr;
  code = krb5_cc_get_full_name(context_, cache_, &name);
  if (code != 0) return std::unexpected(kerberos_error(what, context_, code));
  const std::string cache = name;
  krb5_free_string(context_, name);
  return acquire({}, cache);
}

Result<void> KerberosCredentials::acquire(const KerberosOptions& options,
                                          const std::string& cache) {
  const std::string what =
      fmt::format("Kerberos, credentials cache {}", cache.empty() ? "(default)" : cache);
  GssName wanted;
  if (!options.principal.empty()) {
    TRY(wanted, GssName::of_principal(own_principal(options.principal)));
  }
  gss_key_value_element_desc element = {.key = "ccache", .value = cache.c_str()};
  const gss_key_value_set_desc store = {.count = 1, .elements = &element};
  gss_OID_set_desc mechanisms = {.count = 1, .elements = kerberos_mechanism()};
  OM_uint32 life = 0;
  OM_uint32 minor = 0;
  const OM_uint32 major =
      gss_acquire_cred_from(&minor, wanted.get(), GSS_C_INDEFINITE, &mechanisms, GSS_C_INITIATE,
                            cache.empty() ? nullptr : &store, &handle_, nullptr, &life);
  if (GSS_ERROR(major)) return std::unexpected(gss_error(what, major, minor));
  life_ = std::chrono::seconds(life);
  GssName own;
  const OM_uint32 inquired =
      gss_inquire_cred(&minor, handle_, own.put(), nullptr, nullptr, nullptr);
  if (GSS_ERROR(inquired)) return std::unexpected(gss_error(what, inquired, minor));
  TRY(principal_, own.text());
  return {};
}

}  // namespace halite::storage::hbase
