// A directory for one test, gone with it. In memory where the machine offers that: what a test says
// about syncs it says through FaultyFiles, and a real one takes 10 ms on a busy disk.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "common/check.h"

namespace halite::test {

class TempDir {
 public:
  TempDir() {
    std::error_code none;  // then there is no such place
    const bool in_memory = std::filesystem::is_directory("/dev/shm", none);
    const std::filesystem::path above =
        in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string name = (above / "halite-test-XXXXXX").string();
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
