// The options and limits of a Writer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "storage/api/point_store.h"

namespace halite::ingest {

struct IngestLimits {
  std::size_t tags_max = 32;          // for each point
  std::size_t name_bytes_max = 1024;  // of a metric, tag key or tag value
  std::size_t points_per_request_max = 1'000'000;
  std::size_t json_depth_max = 16;  // nested arrays and objects, including the outermost
  std::size_t series_cache_bytes_max = 256 << 20;
  std::size_t telnet_batch_points_max = 10'000;
  std::size_t telnet_batch_bytes_max = 16 << 20;  // of new names that wait for their ids
  std::size_t refused_samples_max = 100;          // refused points kept for the status page
  std::size_t refused_sample_bytes_max = 200;     // bytes kept of each
  std::size_t refused_log_lines_max = 10;  // refused points of HTTP bodies logged each second

  // Of the names of a series as they are sent: those of the largest size, twice for escapes, with
  // some room for what is between them. Longer ones are not looked at, however many points share
  // them.
  [[nodiscard]] std::size_t series_bytes_max() const {
    constexpr std::size_t kBetween = 16;
    return 2 * (tags_max + 1) * (2 * name_bytes_max + kBetween);
  }
};

struct IngestOptions {
  IngestLimits limits;
  storage::CreateNames create;              // OpenTSDB's default differs: metrics = false
  std::string special_characters;           // UTF-8; allowed in names in addition to OpenTSDB's set
  bool telnet_storage_errors = true;        // report storage errors to telnet senders
  bool opentsdb_words = false;              // name them HBase errors, with any store
  std::string_view telnet_command = "put";  // a text that lives as long as the program
};

}  // namespace halite::ingest
