// Where FaultyFiles keep what outlives a power cut, besides in themselves.
//
//   Threads  one at a time, under the files' mutex.
//   Errors   none: an implementation that cannot go on ends the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/bytes/bytes.h"

namespace halite::test {

class LastingDisk {
 public:
  static constexpr std::uint64_t kDirectory = 0;  // in the place of a file's number

  struct Stored {
    std::string path;
    std::uint64_t file = kDirectory;
    Bytes bytes;  // of a file; empty for its second name
  };
  // A name and the file it stands for from now on; nothing = removed.
  using Entries = std::vector<std::pair<std::string, std::optional<std::uint64_t>>>;

  virtual ~LastingDisk() = default;

  // All it holds, directories before what is in them.
  virtual std::vector<Stored> read() = 0;

  virtual void make(std::uint64_t file) = 0;  // empty and without a name
  virtual void resize(std::uint64_t file, std::uint64_t bytes) = 0;
  virtual void write(std::uint64_t file, std::uint64_t offset, BytesView bytes) = 0;
  // Changes names in one directory, all or none.
  virtual void change(const std::string& dir, const Entries& entries) = 0;
};

}  // namespace halite::test
