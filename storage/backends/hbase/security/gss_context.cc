#include "storage/backends/hbase/security/gss_context.h"

#include <utility>

#include <fmt/format.h>
#include <gssapi/gssapi_krb5.h>

#include "storage/backends/hbase/security/kerberos_error.h"

namespace halite::storage::hbase {
namespace {

constexpr OM_uint32 kFlags =
    GSS_C_MUTUAL_FLAG | GSS_C_SEQUENCE_FLAG | GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG;

gss_buffer_desc buffer_of(BytesView bytes) {
  return {.length = bytes.size(), .value = const_cast<char*>(bytes.data())};
}

// A buffer of the library.
class GssBuffer {
 public:
  GssBuffer() = default;
  ~GssBuffer() {
    OM_uint32 ignored = 0;
    gss_release_buffer(&ignored, &buffer_);
  }
  GssBuffer(const GssBuffer&) = delete;
  GssBuffer& operator=(const GssBuffer&) = delete;
  gss_buffer_t put() { return &buffer_; }
  [[nodiscard]] BytesView view() const {
    return {static_cast<const char*>(buffer_.value), buffer_.length};
  }

 private:
  gss_buffer_desc buffer_ = GSS_C_EMPTY_BUFFER;
};

std::string status_text(OM_uint32 code, int kind) {
  std::string text;
  OM_uint32 more = 0;
  do {
    GssBuffer part;
    OM_uint32 minor = 0;
    if (GSS_ERROR(
            gss_display_status(&minor, code, kind, kerberos_mechanism(), &more, part.put()))) {
      break;
    }
    text += text.empty() ? "" : ", ";
    text += part.view();
  } while (more != 0);
  return text;
}

class GssContext final : public SecurityContext {
 public:
  GssContext(std::shared_ptr<const KerberosCredentials> credentials, GssName server,
             std::string server_text)
      : credentials_(std::move(credentials)),
        server_(std::move(server)),
        server_text_(std::move(server_text)) {}
  ~GssContext() override {
    OM_uint32 ignored = 0;
    gss_delete_sec_context(&ignored, &context_, GSS_C_NO_BUFFER);
  }
  GssContext(const GssContext&) = delete;
  GssContext& operator=(const GssContext&) = delete;

  Result<Bytes> step(BytesView token) override {
    gss_buffer_desc input = buffer_of(token);
    GssBuffer output;
    OM_uint32 minor = 0;
    const OM_uint32 major = gss_init_sec_context(
        &minor, credentials_->handle(), &context_, server_.get(), kerberos_mechanism(), kFlags, 0,
        GSS_C_NO_CHANNEL_BINDINGS, token.empty() ? GSS_C_NO_BUFFER : &input, nullptr, output.put(),
        nullptr, nullptr);
    if (GSS_ERROR(major)) {
      return std::unexpected(
          gss_error(fmt::format("Kerberos, {} to {}", credentials_->principal(), server_text_),
                    major, minor));
    }
    established_ = major == GSS_S_COMPLETE;
    return Bytes(output.view());
  }

  [[nodiscard]] bool established() const override { return established_; }

  Result<Bytes> wrap(BytesView bytes, bool encrypt) override {
    gss_buffer_desc input = buffer_of(bytes);
    GssBuffer output;
    OM_uint32 minor = 0;
    int encrypted = 0;
    const OM_uint32 major = gss_wrap(&minor, context_, encrypt ? 1 : 0, GSS_C_QOP_DEFAULT, &input,
                                     &encrypted, output.put());
    if (GSS_ERROR(major)) return std::unexpected(gss_error("Kerberos, protection", major, minor));
    if (encrypt && encrypted == 0) {
      return fail(Errc::kUnavailable, "Kerberos cannot encrypt: the ticket's key is too weak");
    }
    return Bytes(output.view());
  }

  Result<Bytes> unwrap(BytesView token) override {
    gss_buffer_desc input = buffer_of(token);
    GssBuffer output;
    OM_uint32 minor = 0;
    const OM_uint32 major = gss_unwrap(&minor, context_, &input, output.put(), nullptr, nullptr);
    // Also a token that is repeated or out of order is one that the server did not send so.
    if (major != GSS_S_COMPLETE) {
      return std::unexpected(gss_error("Kerberos, bytes of the server", major, minor));
    }
    return Bytes(output.view());
  }

  [[nodiscard]] std::size_t wrap_bytes_max(std::size_t token_bytes, bool encrypt) override {
    OM_uint32 minor = 0;
    OM_uint32 bytes = 0;
    const OM_uint32 major =
        gss_wrap_size_limit(&minor, context_, encrypt ? 1 : 0, GSS_C_QOP_DEFAULT,
                            static_cast<OM_uint32>(token_bytes), &bytes);
    return GSS_ERROR(major) ? 0 : bytes;
  }

 private:
  const std::shared_ptr<const KerberosCredentials> credentials_;
  const GssName server_;
  const std::string server_text_;
  gss_ctx_id_t context_ = GSS_C_NO_CONTEXT;
  bool established_ = false;
};

}  // namespace

gss_OID kerberos_mechanism() { return const_cast<gss_OID>(gss_mech_krb5); }

Error gss_error(std::string_view what, OM_uint32 major, OM_uint32 minor) {
  // The text of the mechanism says more; there is none for some errors of the library itself.
  std::string text = minor == 0 ? std::string() : status_text(minor, GSS_C_MECH_CODE);
  if (text.empty()) text = status_text(major, GSS_C_GSS_CODE);
  return kerberos_error(what, static_cast<krb5_error_code>(minor), text);
}

GssName::~GssName() {
  OM_uint32 ignored = 0;
  gss_release_name(&ignored, &name_);
}
GssName::GssName(GssName&& other) noexcept : name_(std::exchange(other.name_, GSS_C_NO_NAME)) {}
GssName& GssName::operator=(GssName&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}

Result<GssName> GssName::of_principal(const std::string& principal) {
  GssName name;
  gss_buffer_desc text = buffer_of(principal);
  OM_uint32 minor = 0;
  const OM_uint32 major =
      gss_import_name(&minor, &text, const_cast<gss_OID>(GSS_KRB5_NT_PRINCIPAL_NAME), name.put());
  if (GSS_ERROR(major)) {
    return std::unexpected(gss_error(fmt::format("principal {}", principal), major, minor));
  }
  return name;
}

Result<std::string> GssName::text() const {
  GssBuffer text;
  OM_uint32 minor = 0;
  const OM_uint32 major = gss_display_name(&minor, name_, text.put(), nullptr);
  if (GSS_ERROR(major)) return std::unexpected(gss_error("Kerberos", major, minor));
  return std::string(text.view());
}

Result<BegunContext> begin_gss_context(std::shared_ptr<const KerberosCredentials> credentials,
                                       const std::string& server) {
  TRY(GssName name, GssName::of_principal(server));
  BegunContext begun;
  begun.context = std::make_unique<GssContext>(std::move(credentials), std::move(name), server);
  TRY(begun.token, begun.context->step({}));
  return begun;
}

}  // namespace halite::storage::hbase
