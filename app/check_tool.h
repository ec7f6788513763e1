// halite check, halite repair: read all that a data directory holds and tell what of it is damaged.
#pragma once

#include <cstdint>

#include "app/options.h"
#include "app/print.h"
#include "storage/tools/check/check.h"

namespace halite::app {

// How it ended, as the process's exit status.
enum class CheckStatus : std::uint8_t {
  kSound = 0,
  kDamaged = 1,
  kNotChecked = 2,  // nothing is there, a server writes there, a file cannot be read
};

struct CheckFlags {
  bool json = false;      // one object instead of lines
  bool progress = false;  // to `err`, now and then
};

// Of options.data_dir, while no server writes there. The report goes to `out`, all else to `err`.
[[nodiscard]] CheckStatus check_data_dir(const Options& options, const CheckFlags& flags,
                                         const Print& out, const Print& err);

// Sets aside what of it cannot be read at all (storage/tools/check/repair.h), in
// <data-dir>/set-aside/<time>, and says so.
enum class RepairStatus : std::uint8_t {
  kSound = 0,        // nothing was to be done
  kRepaired = 1,     // something was damaged: the lines say what was done, and what is left
  kNotRepaired = 2,  // an error ended it: the lines say what was done before
};
[[nodiscard]] RepairStatus repair_data_dir(const Options& options, const Print& out,
                                           const Print& err);

// What a check of that directory reads.
[[nodiscard]] storage::check::CheckOptions check_options(const Options& options);
// The same for who may not write there, or does not want to: what would be changed, locks too,
// stays in memory.
[[nodiscard]] storage::check::CheckOptions look_options(const Options& options);

}  // namespace halite::app
