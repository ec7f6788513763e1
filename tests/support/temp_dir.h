// A directory for one test, gone with it.
#pragma once

#include <system_error>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/check.h"

namespace halite::test {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "halite-test-XXXXXX").string();
    HALITE_CHECK(mkdtemp(name.data()) != nullptr, "no directory for a test");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;  // the test is over
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace halite::test
