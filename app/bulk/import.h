// Reads points from files and stores them in a target: several threads parse, one after the other
// stores, in the order of the text.
//
// Now and then the target makes everything durable, and the position is written to the checkpoint.
// After a crash, an import that resumes stores the points after the last checkpoint again, in the
// same order: the result is the same.
#pragma once

#include <chrono>

#include <boost/asio/any_io_executor.hpp>

#include "app/bulk/block_reader.h"
#include "app/bulk/checkpoint.h"
#include "app/bulk/import_target.h"
#include "app/bulk/patience.h"
#include "app/bulk/progress.h"
#include "app/bulk/refused_lines.h"

namespace halite::app {

struct ImportTimes {
  std::chrono::milliseconds checkpoint_interval = kCheckpointInterval;
  RetryTimes retry = {};  // of a target that cannot store now
};

struct ImportJob {
  BlockReader& reader;
  ImportTarget& target;
  RefusedLines& refused;
  const CheckpointFile& checkpoints;
  Progress& progress;
  boost::asio::any_io_executor executor;  // runs ImportTarget::make_durable(); not this thread
  unsigned threads = 1;
  std::uint64_t points_per_s_max = 0;  // 0: no limit
  Checkpoint before = {};              // of the interrupted import that it continues
  ImportTimes times = {};
};

// Imports everything and makes it durable. After an error, everything before the place of the error
// is stored, and the last checkpoint says how much of it is durable. Blocks.
[[nodiscard]] Result<ImportTotals> import_points(const ImportJob& job);

}  // namespace halite::app
