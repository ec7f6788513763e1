#include "storage/files/open_durably.h"

namespace halite::storage {

Result<std::unique_ptr<File>> open_durably(FileSystem& files, const std::string& path,
                                           OpenFile how) {
  TRY(std::unique_ptr<File> file, files.open(path, how));
  TRY_VOID(files.sync_dir(dir_of(path)));
  return file;
}

}  // namespace halite::storage
