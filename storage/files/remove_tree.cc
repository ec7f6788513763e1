#include "storage/files/remove_tree.h"

#include <vector>

namespace halite::storage {

Result<void> remove_tree(FileSystem& files, const std::string& dir) {
  TRY(const FileKind there, files.kind(dir));
  if (there == FileKind::kNone) return {};
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    const std::string path = dir + "/" + name;
    TRY(const FileKind kind, files.kind(path));
    TRY_VOID(kind == FileKind::kDirectory ? remove_tree(files, path) : files.remove(path));
  }
  return files.remove_dir(dir);
}

}  // namespace halite::storage
