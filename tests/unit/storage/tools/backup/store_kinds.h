// The kinds of backup stores, for tests that all of them must pass.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "storage/files/posix_files.h"
#include "storage/tools/backup/backup_store.h"
#include "storage/tools/backup/directory_store.h"
#include "storage/tools/backup/s3/s3_store.h"
#include "tests/support/fake_s3.h"
#include "tests/support/temp_dir.h"

namespace halite::storage::backup {

// A place that several stores may be opened in. The parameter is "directory" or "s3".
class StoreKinds : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<BackupStore> open(const std::string& place = "place") {
    if (GetParam() == "directory") {
      return std::make_unique<DirectoryStore>(*files_, dir_.path() + "/" + place);
    }
    return S3Store::make(s3_.options(place)).value();
  }

  // Replaces an object by other bytes.
  void damage(const std::string& name, const Bytes& bytes) {
    if (GetParam() == "directory") {
      ASSERT_TRUE(write_whole(*files_, dir_.path() + "/place/" + name, bytes));
    } else {
      s3_.put("place/" + name, bytes);
    }
  }

  const test::TempDir dir_;
  const std::shared_ptr<FileSystem> files_ = posix_files();
  test::FakeS3 s3_;
};

#define HALITE_ALL_STORES(suite)                                              \
  INSTANTIATE_TEST_SUITE_P(Stores, suite, testing::Values("directory", "s3"), \
                           [](const auto& test) { return test.param; })

}  // namespace halite::storage::backup
