#include "app/tools/backup_location.h"

#include <system_error>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace halite::app {

Result<void> check_is_outside(const std::string& backups, const std::string& data_dir) {
  std::error_code error;
  const auto normal = std::filesystem::absolute(backups).lexically_normal();
  const std::filesystem::path inner = std::filesystem::weakly_canonical(normal, error);
  if (error) return fail(Errc::kUnavailable, backups + ": " + error.message());
  const std::filesystem::path outer = std::filesystem::weakly_canonical(
      std::filesystem::absolute(data_dir).lexically_normal(), error);
  if (error) return fail(Errc::kUnavailable, data_dir + ": " + error.message());
  if (std::ranges::mismatch(inner, outer).in2 != outer.end()) return {};
  return fail(
      Errc::kConflict,
      fmt::format("{} is inside the data directory {}: choose another directory for backups",
                  backups, data_dir));
}

}  // namespace halite::app
