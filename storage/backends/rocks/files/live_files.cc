#include "storage/backends/rocks/files/live_files.h"

namespace halite::storage::rocks {

std::vector<LiveFile> live_files(rocksdb::DB& db) {
  std::vector<rocksdb::LiveFileMetaData> live;
  db.GetLiveFilesMetaData(&live);
  std::vector<LiveFile> files;
  files.reserve(live.size());
  for (const rocksdb::LiveFileMetaData& file : live) {
    files.push_back({.path = file.db_path + file.name,
                     .family = file.column_family_name,
                     .bytes = file.size,
                     .first_key = file.smallestkey,
                     .last_key = file.largestkey});
  }
  return files;
}

}  // namespace halite::storage::rocks
