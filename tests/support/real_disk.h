// A directory of the real file system that holds what FaultyFiles made last. It is an ordinary
// data directory, but for `.files`: every file once more by its number, so that a file lives on
// without a name, and gets its names by link().
#pragma once

#include <string>

#include "tests/support/lasting_disk.h"

namespace halite::test {

class RealDisk final : public LastingDisk {
 public:
  // An absolute path; made if it is not there.
  explicit RealDisk(std::string root);

  std::vector<Stored> read() override;
  void make(std::uint64_t file) override;
  void resize(std::uint64_t file, std::uint64_t bytes) override;
  void write(std::uint64_t file, std::uint64_t offset, BytesView bytes) override;
  void change(const std::string& dir, const Entries& entries) override;

 private:
  [[nodiscard]] std::string path_of(std::uint64_t file) const;
  void link(std::uint64_t file, const std::string& path);
  [[nodiscard]] bool is(const std::string& path, std::uint64_t file) const;

  const std::string root_;
  const std::string files_;  // the directory of numbers
};

}  // namespace halite::test
