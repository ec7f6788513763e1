// Writes the points of a source to a file, in a text format: metric by metric, each in slices of
// time, a slice by series. Several threads read and pack, one after the other writes.
//
// Now and then the file is synced, and the position is written to the checkpoint. An export that
// resumes cuts the file back to the last checkpoint and continues there.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/bulk/progress.h"
#include "app/bulk/refused_lines.h"
#include "app/bulk/source_walk.h"
#include "common/result.h"
#include "ingest/formats/point_format.h"

namespace halite::app {

enum class Packing : std::uint8_t { kNone, kGzip, kZstd };

// By the end of the file's name: .gz, .zst.
[[nodiscard]] Packing packing_of(std::string_view path);

struct ExportJob {
  PointSource& source;
  WalkOptions walk;  // `from` is set by export_points()
  ingest::Format format = ingest::Format::kOpenTsdb;
  ingest::FormatOptions options = {};
  std::string path;  // "-": standard output
  Packing packing = Packing::kNone;
  std::string task = {};        // identifies the export in its checkpoint
  std::string checkpoint = {};  // path; empty: none is written
  std::chrono::milliseconds checkpoint_interval = kCheckpointInterval;
  bool resume = false;
  std::string errors =
      {};              // path of a file of points that the format cannot represent; empty: none
  bool quiet = false;  // shows no progress
};

// Blocks. kConflict: the file exists and the export does not resume, the checkpoint is of another
// export, or the file has less than the checkpoint says.
[[nodiscard]] Result<ImportTotals> export_points(ExportJob job, const Print& err);

}  // namespace halite::app
