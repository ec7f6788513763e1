#include "web/connection/tls.h"

#include <chrono>

#include <boost/asio/ssl/context.hpp>
#include <fmt/format.h>

#include "common/log.h"
#include "common/tls/certificate_files.h"

namespace halite::web {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::chrono::milliseconds kLookAgain(1'000);
constexpr std::string_view kCertificate = "tls.certificate";
constexpr std::string_view kKey = "tls.key";

}  // namespace

Result<std::shared_ptr<ssl::context>> Tls::read() const {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1,
                       error);
  if (error) return fail(Errc::kInternal, fmt::format("TLS: {}", error.message()));
  TRY_VOID(use_certificate(context->native_handle(), {kCertificate, options_.certificate},
                           {kKey, options_.key}));
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
  const auto read_and_warn = [this]() -> Result<std::shared_ptr<ssl::context>> {
    TRY(std::shared_ptr<ssl::context> context, read());
    const std::string dates =
        date_warning(context->native_handle(), {kCertificate, options_.certificate});
    if (!dates.empty()) log::warn("{}", dates);
    return context;
  };
  return context_.start({.paths = {options_.certificate, options_.key},
                         .read = read_and_warn,
                         .taken = taken,
                         .refused = "the new certificate is invalid"},
                        kLookAgain);
}

}  // namespace halite::web
