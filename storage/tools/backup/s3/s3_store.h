// A backup repository in a bucket of an S3 store. Format: docs/formats/backup.md.
//
//   Memory  one part of an object: S3Options::part_bytes, or a ten-thousandth of a larger object.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/tools/backup/backup_store.h"
#include "storage/tools/backup/s3/s3_client.h"
#include "storage/tools/backup/s3/s3_options.h"

namespace halite::storage::backup {

class S3Store final : public BackupStore {
 public:
  // Sends nothing yet. kInvalidArgument: the file of CAs cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<S3Store>> make(S3Options options);

  Result<std::unique_ptr<StoreLock>> lock() override;
  Result<std::vector<StoredObject>> list(const std::string& folder) override;
  Result<void> read(const StoredObject& object, const TakeBytes& take) override;
  Result<std::unique_ptr<ObjectWriter>> create(const StoredObject& object) override;
  Result<void> remove(const std::string& name) override;
  Result<void> withdraw(const std::string& name) override;
  Result<void> remove_unfinished() override;
  [[nodiscard]] std::string place(const std::string& name) const override;

 private:
  explicit S3Store(std::unique_ptr<S3Client> client) : client_(std::move(client)) {}
  [[nodiscard]] const S3Url& url() const { return client_->options().url; }

  const std::unique_ptr<S3Client> client_;
};

}  // namespace halite::storage::backup
