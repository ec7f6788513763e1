// The lock of a repository in a bucket: each writer has an object in "locks/" and renews it.
//
// A writer first writes its object, then looks for those of others. So of two writers at least one
// sees the other, if the store shows each write to each later listing, as S3 does. No other
// guarantee is needed. A lock is void when it has not been renewed for ten minutes by the server's
// clock, or when its process has ended on this machine.
#pragma once

#include <memory>

#include "common/result.h"
#include "storage/tools/backup/backup_store.h"
#include "storage/tools/backup/s3/s3_client.h"

namespace halite::storage::backup {

// kConflict: another writer has the lock; the message names its machine and process. The client
// outlives the lock.
[[nodiscard]] Result<std::unique_ptr<StoreLock>> lock_s3(S3Client& client);

}  // namespace halite::storage::backup
