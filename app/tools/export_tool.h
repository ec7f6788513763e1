// `halite export`: writes stored points to a file.
#pragma once

#include <cstdint>
#include <string>

#include "app/bulk/open_source.h"
#include "app/settings/options.h"
#include "app/tools/print.h"

namespace halite::app {

struct ExportFlags {
  SourceFlags source;
  std::string format = "opentsdb";
  std::string output = "-";  // "-": standard output
  std::string errors;        // file of points that the format cannot represent; empty: none
  std::string checkpoint;    // file; empty: the output with ".checkpoint"
  double checkpoint_interval_s = 20;
  bool resume = false;
  bool quiet = false;
  unsigned jobs = 0;  // threads; 0: one for each processor
};

// The exit status.
enum class ExportStatus : std::uint8_t {
  kAll = 0,
  kRefused = 1,  // the format cannot represent some points
  kFailed = 2,
};

[[nodiscard]] ExportStatus export_files(const Options& options, const ExportFlags& flags,
                                        const Print& out, const Print& err);

}  // namespace halite::app
