#include "storage/tools/backup/s3/s3_errors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "common/bytes/shortened.h"
#include "storage/tools/backup/s3/s3_answers.h"
#include "storage/tools/backup/s3/sigv4.h"

namespace halite::storage::backup {
namespace {

// Codes of a request that arrived damaged or late, with a status that says otherwise.
constexpr std::array<std::string_view, 6> kRetryable = {
    "RequestTimeout", "IncompleteBody", "BadDigest", "XAmzContentSHA256Mismatch",
    "SlowDown",       "InternalError"};

// The region that the server wants; empty: it does not say.
std::string wanted_region(const HttpAnswer& answer, const S3Error& error) {
  const std::string region = answer.header("x-amz-bucket-region");
  return region.empty() ? error.region : region;
}

bool is_wrong_region(const HttpAnswer& answer, const S3Error& error) {
  return answer.status == 301 || answer.status == 307 || answer.status == 308 ||
         error.code == "PermanentRedirect" || error.code == "AuthorizationHeaderMalformed" ||
         error.code == "IllegalLocationConstraintException";
}

std::string region_advice(const HttpAnswer& answer, const S3Error& error,
                          const S3Options& options) {
  const std::string region = wanted_region(answer, error);
  if (!region.empty() && region != options.region) {
    return fmt::format("the bucket is in the region {}, not {}; set backup.s3_region", region,
                       options.region);
  }
  if (!error.endpoint.empty()) {
    return fmt::format("the bucket is served by {}; set backup.s3_endpoint", error.endpoint);
  }
  return fmt::format(
      "the region {} or the endpoint {} is wrong; see backup.s3_region and "
      "backup.s3_endpoint",
      options.region, options.endpoint.authority());
}

struct Meaning {
  Errc code;
  std::string text;  // empty: what the server says is enough
};

Meaning meaning_of(const HttpAnswer& answer, const S3Error& error, const S3Options& options) {
  if (error.code == "NoSuchBucket") {
    return {Errc::kInvalidArgument, fmt::format("{} has no bucket \"{}\"; create it first",
                                                options.endpoint.authority(), options.url.bucket)};
  }
  if (error.code == "SignatureDoesNotMatch") {
    return {Errc::kUnauthenticated,
            fmt::format("the secret access key does not belong to the access key id {}, or a proxy "
                        "changes requests",
                        options.credentials.key_id)};
  }
  if (error.code == "InvalidAccessKeyId") {
    return {Errc::kUnauthenticated, fmt::format("the server does not know the access key id {}",
                                                options.credentials.key_id)};
  }
  if (error.code == "RequestTimeTooSkewed") {
    return {Errc::kUnauthenticated,
            fmt::format("the clock of this machine, {}, differs too much from the server's, {}",
                        amz_date(options.clock->now_ms()), answer.header("date"))};
  }
  if (error.code == "ExpiredToken" || error.code == "InvalidToken") {
    return {Errc::kUnauthenticated, "the session token has expired or is wrong"};
  }
  if (is_wrong_region(answer, error)) {
    return {Errc::kInvalidArgument, region_advice(answer, error, options)};
  }
  if (error.code == "AccessDenied" || answer.status == 403) {
    return {Errc::kForbidden,
            fmt::format("the access key {} lacks the permission; docs/operate/backup.md has the "
                        "policy that backups need",
                        options.credentials.key_id)};
  }
  if (error.code == "SlowDown" || answer.status == 429) return {Errc::kOverloaded, ""};
  if (answer.status == 416) return {Errc::kCorruption, ""};
  if (answer.status == 404 && error.code.empty()) {
    return {Errc::kNotFound, fmt::format("{} answers as no S3 store does; see backup.s3_endpoint",
                                         options.endpoint.authority())};
  }
  if (answer.status == 404) return {Errc::kNotFound, ""};
  if (answer.status == 401) return {Errc::kUnauthenticated, ""};
  return {is_retryable(answer) ? Errc::kUnavailable : Errc::kInvalidArgument, ""};
}

}  // namespace

bool is_retryable(const HttpAnswer& answer) {
  if (answer.status >= 500 && answer.status != 501) return true;
  if (answer.status == 429 || answer.status == 408) return true;
  return std::ranges::find(kRetryable, parse_s3_error(answer.body).code) != kRetryable.end();
}

Error to_error(const HttpAnswer& answer, const std::string& what, const S3Options& options) {
  const S3Error error = parse_s3_error(answer.body);
  const Meaning meaning = meaning_of(answer, error, options);
  std::string said = fmt::format("{}", answer.status);
  if (!error.code.empty()) said += " " + shortened(error.code);
  if (!error.message.empty()) said += ": " + shortened(error.message);
  if (meaning.text.empty()) return {meaning.code, fmt::format("{}: {}", what, said), {}};
  return {meaning.code, fmt::format("{}: {} ({})", what, meaning.text, said), {}};
}

}  // namespace halite::storage::backup
