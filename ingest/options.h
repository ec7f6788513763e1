// What a Writer takes and how much of it.
#pragma once

#include <cstddef>
#include <string>

#include "storage/api/point_store.h"

namespace halite::ingest {

struct IngestLimits {
  std::size_t tags_max = 32;          // of one point
  std::size_t name_bytes_max = 1024;  // metric, tag key or tag value
  std::size_t points_per_request_max = 1'000'000;
  std::size_t json_depth_max = 16;  // of arrays and objects in each other, the outermost counted
  std::size_t series_cache_bytes_max = 256 << 20;
  std::size_t telnet_batch_points_max = 10'000;
  std::size_t telnet_batch_bytes_max = 16 << 20;  // names not seen before, waiting for their ids
  std::size_t refused_samples_max = 100;          // refused points kept for the status page
  std::size_t refused_sample_bytes_max = 200;     // of each
  std::size_t refused_log_lines_max = 10;  // refused points of HTTP bodies logged in one second
};

struct IngestOptions {
  IngestLimits limits;
  storage::CreateNames create;        // OpenTSDB's defaults differ: metrics = false
  std::string special_characters;     // UTF-8; allowed in names besides OpenTSDB's own
  bool telnet_storage_errors = true;  // tell telnet senders what the store could not do
  bool opentsdb_words = false;        // which are then called HBase's, whatever the store is
};

}  // namespace halite::ingest
