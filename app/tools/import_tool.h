// `halite import`: reads points from files and stores them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/client/http_client.h"
#include "app/settings/options.h"
#include "app/tools/print.h"
#include "common/result.h"
#include "ingest/formats/point_format.h"

namespace halite::app {

struct ImportFlags {
  std::vector<std::string> files;  // "-" is standard input
  std::string url;                 // of a running server; empty: the store of the settings
  PeerFiles peer;
  std::string hfiles;      // URL of a directory for bulk loads into HBase; empty: by RPC
  bool fill_gaps = false;  // of a bulk load: existing points stay
  std::string format = "auto";
  ingest::FormatOptions options;
  std::string errors;      // file of refused lines; empty: none
  std::string checkpoint;  // file; empty: kCheckpointName in the current directory
  double checkpoint_interval_s = 20;
  bool resume = false;
  bool quiet = false;                  // shows no progress
  unsigned jobs = 0;                   // threads that parse; 0: one for each processor
  std::uint64_t points_per_s_max = 0;  // 0: as fast as possible
};

inline constexpr const char* kCheckpointName = "halite-import.checkpoint";

// The exit status.
enum class ImportStatus : std::uint8_t {
  kAll = 0,
  kRefused = 1,  // all lines were read, some are not stored
  kFailed = 2,   // nothing was done, or it stopped early: `--resume` continues
};

// The names in the argument of --csv-columns. kInvalidArgument: one of metric, time and value is
// missing, or a name is empty or there twice.
[[nodiscard]] Result<std::vector<std::string>> parse_csv_columns(std::string_view text);

[[nodiscard]] ImportStatus import_files(const Options& options, const ImportFlags& flags,
                                        const Print& out, const Print& err);

}  // namespace halite::app
