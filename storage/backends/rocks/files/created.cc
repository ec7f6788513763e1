#include "storage/backends/rocks/files/created.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace halite::storage::rocks {
namespace {

constexpr std::string_view kManifest = "MANIFEST-";
constexpr std::string_view kFirstManifest = "MANIFEST-000001";

}  // namespace

Result<bool> has_tables(FileSystem& files, const std::string& dir) {
  TRY(const std::vector<std::string> names, files.list(dir));
  return std::ranges::any_of(names, [](const auto& name) { return name.ends_with(".sst"); });
}

Result<bool> is_created(FileSystem& files, const std::string& dir) {
  TRY(const std::vector<std::string> names, files.list(dir));
  return std::ranges::any_of(names, [](const std::string& name) {
    return name == "CURRENT" || name.ends_with(".sst") || name.ends_with(".log") ||
           (name.starts_with(kManifest) && name != kFirstManifest);
  });
}

}  // namespace halite::storage::rocks
