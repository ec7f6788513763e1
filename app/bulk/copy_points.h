// Copies the points of a source into a target, slice by slice. Now and then the target makes
// everything durable, and the position is written to the checkpoint. To copy a point again is
// harmless.
#pragma once

#include <chrono>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "app/bulk/import_target.h"
#include "app/bulk/source_walk.h"
#include "app/bulk/walk_checkpoint.h"
#include "app/tools/print.h"
#include "common/result.h"

namespace halite::app {

struct CopyJob {
  PointSource& source;
  ImportTarget& target;
  boost::asio::any_io_executor executor;  // runs ImportTarget::make_durable(); not this thread
  WalkOptions walk;                       // `from` is set by copy_points()
  std::string task;                       // identifies the copy in its checkpoint
  std::string checkpoint;                 // path; empty: none is written
  std::chrono::milliseconds checkpoint_interval = kCheckpointInterval;
  bool resume = false;
  std::string errors;  // path of a file of refused series; empty: none
  bool quiet = false;  // shows no progress
};

struct CopyResult {
  ImportTotals totals;
  TimestampMs began = 0;  // when the first run of the copy began
};

// Copies everything and makes it durable. Blocks.
[[nodiscard]] Result<CopyResult> copy_points(CopyJob job, const Print& err);

}  // namespace halite::app
