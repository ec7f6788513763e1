#include "storage/tools/backup/s3/sigv4.h"

#include <array>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "common/bytes/ascii.h"
#include "common/bytes/percent.h"
#include "common/check.h"

namespace halite::storage::backup {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

const unsigned char* octets(BytesView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Bytes hmac(BytesView key, BytesView text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> made{};
  unsigned int size = 0;
  const unsigned char* const done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                         octets(text), text.size(), made.data(), &size);
  HALITE_CHECK(done != nullptr && size == made.size(), "OpenSSL makes no HMAC");
  return {reinterpret_cast<const char*>(made.data()), made.size()};
}

std::string lower_hex(BytesView bytes) { return to_lower(to_hex(bytes)); }

std::string signed_headers(const RequestToSign& request) {
  std::string names;
  for (const auto& [name, value] : request.headers) {
    if (!names.empty()) names += ';';
    names += name;
  }
  return names;
}

// Blanks in a row count as one.
std::string with_single_blanks(std::string_view value) {
  std::string text;
  for (const char byte : trim(value)) {
    if (byte != ' ' || !text.ends_with(' ')) text += byte;
  }
  return text;
}

}  // namespace

std::string encoded_path(std::string_view path) { return percent_encoded(path, "/"); }

// The encoded names keep the order of the plain ones: no query of ours mixes names in which it
// differs.
std::string encoded_query(const std::map<std::string, std::string>& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    if (!text.empty()) text += '&';
    text += fmt::format("{}={}", percent_encoded(name), percent_encoded(value));
  }
  return text;
}

std::string sha256_hex(BytesView bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(octets(bytes), bytes.size(), digest.data());
  return lower_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string amz_date(TimestampMs now) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now / 1000));
}

std::string canonical_request(const RequestToSign& request) {
  std::string headers;
  for (const auto& [name, value] : request.headers) {
    headers += fmt::format("{}:{}\n", name, with_single_blanks(value));
  }
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, encoded_path(request.path),
                     encoded_query(request.query), headers, signed_headers(request),
                     request.payload_sha256);
}

std::string sign(const RequestToSign& request, const S3Credentials& credentials,
                 const SigningScope& scope) {
  const std::string time = amz_date(scope.now);
  const std::string day = time.substr(0, 8);
  const std::string where = fmt::format("{}/{}/{}/aws4_request", day, scope.region, scope.service);
  const std::string text = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, where,
                                       sha256_hex(canonical_request(request)));
  Bytes key = hmac("AWS4" + credentials.secret, day);
  key = hmac(key, scope.region);
  key = hmac(key, scope.service);
  key = hmac(key, "aws4_request");
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                     credentials.key_id, where, signed_headers(request),
                     lower_hex(hmac(key, text)));
}

}  // namespace halite::storage::backup
