// `halite check` and `halite repair`: read a whole data directory and report damage.
#pragma once

#include <cstdint>

#include "app/settings/options.h"
#include "app/tools/print.h"
#include "common/result.h"
#include "storage/tools/check/check.h"

namespace halite::app {

// The outcome, as the process's exit status.
enum class CheckStatus : std::uint8_t {
  kSound = 0,
  kDamaged = 1,
  kNotChecked = 2,  // it is empty, in use by a server, or unreadable
};

struct CheckFlags {
  bool json = false;      // one object instead of lines
  bool progress = false;  // to `err`, from time to time
};

// Checks options.data_dir, while no server writes there. The report goes to `out`, the rest to
// `err`.
[[nodiscard]] CheckStatus check_data_dir(const Options& options, const CheckFlags& flags,
                                         const Print& out, const Print& err);

// Moves completely unreadable parts (storage/tools/check/repair.h) to <data-dir>/set-aside/<time>,
// and reports that. Run by root, it gives what it creates to the owner of the data directory.
enum class RepairStatus : std::uint8_t {
  kSound = 0,        // no action was needed
  kRepaired = 1,     // damage was found; the output lists the repairs and the damage that remains
  kNotRepaired = 2,  // stopped by an error: the lines say what was done before
};
[[nodiscard]] RepairStatus repair_data_dir(const Options& options, const Print& out,
                                           const Print& err);

// What to read in a check of that directory.
[[nodiscard]] storage::check::CheckOptions check_options(const Options& options);
// For callers that may not or must not write there: all changes, even locks, stay in memory.
[[nodiscard]] storage::check::CheckOptions look_options(const Options& options);

// A check before a start opens the store of names; requires the locked data directory, blocks and
// changes nothing. kConflict if points exist but no names. To open the store of names would create
// an empty one and leave it beside the points after the refusal.
[[nodiscard]] Result<void> refuse_missing_names(const Options& options);

}  // namespace halite::app
