// Where an S3 store is: a bucket with a prefix, and the server that has it.
//
//   Threads  pure functions.
//   Errors   kInvalidArgument names the text and what is expected.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::storage::backup {

struct S3Url {
  std::string bucket;
  std::string prefix;  // of all names, without '/' at its ends; empty = none

  // The key of an object: "prefix/name".
  [[nodiscard]] std::string key(std::string_view name) const;
  // "s3://bucket/prefix"
  [[nodiscard]] std::string text() const;
};

// Whether the text begins with "s3://".
[[nodiscard]] bool is_s3_url(std::string_view text);
// Reads s3://BUCKET[/PREFIX].
[[nodiscard]] Result<S3Url> parse_s3_url(std::string_view text);

struct S3Endpoint {
  bool secure = true;  // https
  std::string host;
  std::string port;

  // As in URLs and in the header Host: without the scheme's own port.
  [[nodiscard]] std::string authority() const;
};

// Reads https://HOST[:PORT], or http:// for a connection without encryption.
[[nodiscard]] Result<S3Endpoint> parse_s3_endpoint(std::string_view text);

}  // namespace halite::storage::backup
