// A backup repository in a directory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/files/files.h"
#include "storage/tools/backup/backup_store.h"

namespace halite::storage::backup {

class DirectoryStore final : public BackupStore {
 public:
  DirectoryStore(FileSystem& files, std::string dir) : files_(files), dir_(std::move(dir)) {}

  // Creates the directory if necessary.
  Result<std::unique_ptr<StoreLock>> lock() override;
  // kNotFound: there is no directory.
  Result<std::vector<StoredObject>> list(const std::string& folder) override;
  Result<void> read(const StoredObject& object, const TakeBytes& take) override;
  Result<std::unique_ptr<ObjectWriter>> create(const StoredObject& object) override;
  Result<void> remove(const std::string& name) override;
  Result<void> withdraw(const std::string& name) override { return remove(name); }
  Result<void> remove_unfinished() override;
  [[nodiscard]] std::string place(const std::string& name) const override;

 private:
  FileSystem& files_;
  const std::string dir_;
};

}  // namespace halite::storage::backup
