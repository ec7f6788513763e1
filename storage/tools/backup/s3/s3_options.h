// What an S3 store needs to know.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/clock.h"
#include "storage/tools/backup/s3/credentials.h"
#include "storage/tools/backup/s3/s3_url.h"

namespace halite::storage::backup {

struct S3Options {
  S3Url url;
  S3Endpoint endpoint;  // of the service, without a bucket
  std::string region = "us-east-1";
  bool bucket_in_host = false;  // https://BUCKET.HOST/KEY instead of https://HOST/BUCKET/KEY
  std::string ca_file;          // PEM; empty = the system's CAs
  S3Credentials credentials;

  // A request that fails for a while is repeated, after pauses that double.
  std::uint32_t attempts_max = 10;
  std::uint32_t attempts_before_answer_max = 3;  // as long as the server has answered nothing
  std::uint32_t pause_ms = 250;
  std::uint32_t pause_ms_max = 20'000;
  std::uint32_t silence_ms = 60'000;  // of the server, within a request

  // Larger objects are written in parts of this size, which are held in memory, and read in ranges
  // of it. S3 demands 5 MiB at least.
  std::uint64_t part_bytes = 16 << 20;

  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  std::function<bool()> ended;  // return true to end the work with kCancelled; may be empty
};

}  // namespace halite::storage::backup
