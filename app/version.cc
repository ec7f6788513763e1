#include "app/version.h"

#include <fmt/format.h>

#include "app/settings/options.h"
#include "app/version_text.h"

namespace halite::app {

std::string version_line() {
  return fmt::format("halite {} (revision {})", kVersion, kShortRevision);
}

web::VersionInfo version_info() {
  return {.version = kVersion,
          .short_revision = kShortRevision,
          .full_revision = kFullRevision,
          .repo_status = kRepoStatus,
          .built_s = kCommittedS,
          .user = "halite",
          .host = host_tag(),
          .repo = "halite",
          .branch = kBranch};
}

}  // namespace halite::app
