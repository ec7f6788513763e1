// Signatures of AWS, version 4: they show that a request is of the owner of a secret key, and that
// nothing has changed it.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
//
//   Threads  pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "storage/tools/backup/s3/credentials.h"

namespace halite::storage::backup {

struct RequestToSign {
  std::string_view method;                     // "GET"
  std::string path;                            // "/bucket/key", not encoded
  std::map<std::string, std::string> query;    // not encoded; an empty value stands for none
  std::map<std::string, std::string> headers;  // names in lower case; all are signed
  std::string payload_sha256;                  // 64 hexadecimal digits
};

struct SigningScope {
  std::string region;
  std::string_view service = "s3";
  TimestampMs now = 0;
};

// The value of the header Authorization. The headers include host and x-amz-date.
[[nodiscard]] std::string sign(const RequestToSign& request, const S3Credentials& credentials,
                               const SigningScope& scope);

// The text whose hash is signed.
[[nodiscard]] std::string canonical_request(const RequestToSign& request);

// As requests are sent.
[[nodiscard]] std::string encoded_path(std::string_view path);
[[nodiscard]] std::string encoded_query(const std::map<std::string, std::string>& query);

[[nodiscard]] std::string sha256_hex(BytesView bytes);
// "20130524T000000Z", of the header x-amz-date.
[[nodiscard]] std::string amz_date(TimestampMs now);

}  // namespace halite::storage::backup
