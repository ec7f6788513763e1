#include "app/tools/missing_names.h"

#include "app/tools/check_tool.h"
#include "storage/tools/check/missing_data.h"

namespace halite::app {

Result<void> refuse_missing_names(const Options& options) {
  const storage::check::CheckOptions look = check_options(options);
  TRY(const bool names, storage::check::has_names(look));
  if (names) return {};
  TRY(const storage::check::MissingData missing, storage::check::missing_data(look, nullptr));
  if (missing.names.empty()) return {};
  return fail(Errc::kConflict, missing.names);
}

}  // namespace halite::app
