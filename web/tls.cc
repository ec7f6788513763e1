#include "web/tls.h"

#include <utility>

#include <boost/asio/ssl/impl/src.hpp>
#include <fmt/format.h>

#include "common/log.h"

namespace halite::web {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::int64_t kLookAgainMs = 1'000;
constexpr std::string_view kCertificate = "tls.certificate";
constexpr std::string_view kKey = "tls.key";

std::unexpected<Error> wrong(std::string_view setting, const std::string& path,
                             std::string_view why) {
  return fail(Errc::kInvalidArgument, fmt::format("{} = {}: {}", setting, path, why));
}

}  // namespace

Tls::Stamps Tls::stamps() const {
  return {FileStamp::of(options_.certificate), FileStamp::of(options_.key)};
}

Result<std::shared_ptr<ssl::context>> Tls::read() const {
  for (const auto& [setting, path] :
       {std::pair(kCertificate, options_.certificate), std::pair(kKey, options_.key)}) {
    const FileStamp stamp = FileStamp::of(path);
    if (stamp.inode != 0 && !stamp.regular) return wrong(setting, path, "no regular file");
  }
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1,
                       error);
  if (!error) context->use_certificate_chain_file(options_.certificate, error);
  if (error) return wrong(kCertificate, options_.certificate, error.message());
  context->use_private_key_file(options_.key, ssl::context::pem, error);
  if (error) return wrong(kKey, options_.key, error.message());
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  return context;
}

Result<void> Tls::load() {
  if (!on()) {
    if (options_.key.empty()) return {};
    return fail(Errc::kInvalidArgument, "tls.key is set and tls.certificate is not");
  }
  if (options_.key.empty()) {
    return fail(Errc::kInvalidArgument, "tls.certificate is set and tls.key is not");
  }
  const std::lock_guard lock(mutex_);
  read_ = stamps();
  TRY(context_, read());
  looked_at_ms_ = clock_.now_ms();
  return {};
}

std::shared_ptr<ssl::context> Tls::current() {
  const std::lock_guard lock(mutex_);
  const TimestampMs now = clock_.now_ms();
  if (now < looked_at_ms_ + kLookAgainMs && now >= looked_at_ms_) return context_;
  looked_at_ms_ = now;
  const Stamps found = stamps();
  if (found == read_) return context_;
  Result<std::shared_ptr<ssl::context>> fresh = read();
  if (fresh) {
    read_ = found;
    complaint_.clear();
    context_ = *std::move(fresh);
    log::info("certificate read again from {}", options_.certificate);
  } else if (std::exchange(complaint_, fresh.error().message) != fresh.error().message) {
    log::error("a new certificate is not taken, the one before it stays: {}", complaint_);
  }
  return context_;
}

}  // namespace halite::web
