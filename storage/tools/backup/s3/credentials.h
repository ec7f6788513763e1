// Access keys of an S3 store, from the places where AWS' own tools look.
//
//   Secrets  never in messages.
//   Threads  any; blocks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::storage::backup {

struct S3Credentials {
  std::string key_id;
  std::string secret;
  std::string token;  // of temporary credentials; empty = none
};

struct CredentialSource {
  std::string file;     // read only this file; empty = search
  std::string profile;  // section of the file; empty = AWS_PROFILE, or "default"
  // A variable of the environment; null = not set. May be empty.
  std::function<const char*(const char* name)> variable;
};

// Searches AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then the file
// AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. kUnauthenticated: there are none; the message
// says where they may be. kInvalidArgument: a file is not valid.
[[nodiscard]] Result<S3Credentials> find_credentials(const CredentialSource& source);

// Reads a section of a credentials file:
//   [default]
//   aws_access_key_id = ..
//   aws_secret_access_key = ..
//   aws_session_token = ..
// kNotFound: it has no such section.
[[nodiscard]] Result<S3Credentials> parse_credentials(std::string_view text,
                                                      std::string_view profile);

}  // namespace halite::storage::backup
