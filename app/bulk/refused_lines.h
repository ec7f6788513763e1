// The file of lines that an import refused, and the first of them for the terminal.
//
// Each line of the file: input, line number, reason and the line itself, separated by tabs. Control
// characters are replaced by blanks, and so they are on the terminal.
//
//   Threads  one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/tools/print.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::app {

class RefusedLines {
 public:
  // Without a path, only shows the first few lines. `keep_bytes`: what an interrupted import wrote
  // before its checkpoint; the rest is dropped. Nothing: the file must not exist, else kConflict;
  // it may be empty, as left by a task that ended before its first checkpoint. kConflict, too:
  // another task writes it.
  static Result<std::unique_ptr<RefusedLines>> open(const std::string& path,
                                                    std::optional<std::uint64_t> keep_bytes,
                                                    Print err);

  Result<void> add(std::string_view input, std::uint64_t line, std::string_view reason,
                   std::string_view text);
  // Makes the file durable and returns its size.
  Result<std::uint64_t> sync();

 private:
  RefusedLines(std::unique_ptr<storage::File> file, std::unique_ptr<storage::FileLock> lock,
               std::uint64_t bytes, Print err)
      : file_(std::move(file)), lock_(std::move(lock)), bytes_(bytes), err_(std::move(err)) {}
  Result<void> write();

  const std::unique_ptr<storage::File> file_;  // null: no file
  const std::unique_ptr<storage::FileLock> lock_;
  std::uint64_t bytes_ = 0;  // written
  std::string waiting_;      // not yet written
  std::uint64_t shown_ = 0;
  const Print err_;
};

}  // namespace halite::app
