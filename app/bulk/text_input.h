// The bytes of one input: a file, a pipe or standard input ("-"), gzip and zstd unpacked by their
// content.
//
//   Threads  not thread-safe.
//   Errors   kNotFound, kUnavailable: it cannot be read; kCorruption: the compressed data is
//            damaged or ends early. Messages name the input.
//   Damage   may be found only at a checksum behind it: text that was read before may be wrong, and
//            some that comes before the damage is not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/result.h"

namespace halite::app {

class TextInput {
 public:
  virtual ~TextInput() = default;
  // Reads at least one byte; 0 only at the end.
  virtual Result<std::size_t> read(std::span<char> to) = 0;
  // Bytes read from the file, before they were unpacked.
  [[nodiscard]] virtual std::uint64_t bytes_read() const = 0;
  // After kCorruption: whether the data seems only to end early. Then all text before the end was
  // read.
  [[nodiscard]] virtual bool truncated() const { return false; }
  // At the end: what follows the compressed data and is not read, as text; empty: nothing, or
  // padding of zero bytes.
  [[nodiscard]] virtual std::string ignored() const { return {}; }

  static Result<std::unique_ptr<TextInput>> open(const std::string& path);
};

// The size of a regular file; 0 for anything else.
[[nodiscard]] std::uint64_t file_bytes(const std::string& path);

// When a regular file was last modified, in ns since 1970; 0 for anything else, and for times
// before 1970 and after 2262.
[[nodiscard]] std::uint64_t file_modified_ns(const std::string& path);

}  // namespace halite::app
