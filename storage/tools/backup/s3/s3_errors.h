// What the errors of S3 stores mean, and what to do about them.
//
//   Threads  pure functions.
#pragma once

#include <string>

#include "common/clock.h"
#include "common/result.h"
#include "storage/tools/backup/s3/http_connection.h"
#include "storage/tools/backup/s3/s3_options.h"

namespace halite::storage::backup {

// Whether the same request may succeed later. `answer` is no success.
[[nodiscard]] bool is_retryable(const HttpAnswer& answer);

// kNotFound: there is no such object or upload. kForbidden: no permission. kUnauthenticated: the
// keys or the clock are wrong. kInvalidArgument: the bucket, the region or the endpoint is wrong.
// kCorruption: the object has no such range. kOverloaded, kUnavailable: it may pass. `what` is the
// request: "GET s3://bucket/key".
[[nodiscard]] Error to_error(const HttpAnswer& answer, const std::string& what,
                             const S3Options& options);

}  // namespace halite::storage::backup
