#include "storage/backends/rocks/files/checkpoint.h"

#include <memory>

#include <rocksdb/utilities/checkpoint.h>

#include "storage/backends/rocks/files/status.h"

namespace halite::storage::rocks {

Result<void> make_checkpoint(rocksdb::DB& db, FileSystem& files, const std::string& dir) {
  TRY_VOID(make_dirs(files, dir_of(dir)));
  rocksdb::Checkpoint* made = nullptr;
  TRY_VOID(checked(rocksdb::Checkpoint::Create(&db, &made), "cannot start a snapshot"));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  return checked(checkpoint->CreateCheckpoint(dir), "cannot create the snapshot " + dir);
}

}  // namespace halite::storage::rocks
