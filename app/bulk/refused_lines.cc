#include "app/bulk/refused_lines.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/bulk/text_input.h"
#include "app/tools/one_line.h"
#include "common/bytes/utf8.h"
#include "storage/files/open_durably.h"
#include "storage/files/posix_files.h"

namespace halite::app {
namespace {

constexpr std::uint64_t kShownMax = 10;
constexpr std::size_t kReasonBytesMax = 1024;
constexpr std::size_t kWriteBytes = 1 << 20;

// Behind a link, as /dev/stderr is one, may be a file that others write.
bool is_empty_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() ==
             std::filesystem::file_type::regular &&
         file_bytes(path) == 0;
}

}  // namespace

Result<std::unique_ptr<RefusedLines>> RefusedLines::open(const std::string& path,
                                                         std::optional<std::uint64_t> keep_bytes,
                                                         Print err) {
  std::unique_ptr<storage::File> file;
  std::unique_ptr<storage::FileLock> lock;
  const std::uint64_t keep = keep_bytes.value_or(0);
  if (!path.empty()) {
    const auto files = storage::posix_files();
    storage::OpenFile how = storage::OpenFile::kCreate;
    if (keep > 0 || is_empty_file(path) || (keep_bytes && std::filesystem::exists(path))) {
      how = storage::OpenFile::kWrite;
    }
    auto opened = storage::open_durably(*files, path, how);
    if (!opened && opened.error().code == Errc::kConflict) {
      return fail(Errc::kConflict, fmt::format("{} exists; choose another file by --errors", path));
    }
    TRY(file, std::move(opened));
    auto locked = files->lock(path);
    if (!locked && locked.error().code == Errc::kConflict) {
      return fail(Errc::kConflict, fmt::format("{}: another import or export writes it", path));
    }
    TRY(lock, std::move(locked));
    TRY(const std::uint64_t size, file->size());
    if (size < keep) {
      return fail(Errc::kConflict,
                  fmt::format("{} is shorter than the interrupted import left it", path));
    }
    TRY_VOID(file->truncate(keep));
  }
  return std::unique_ptr<RefusedLines>(
      new RefusedLines(std::move(file), std::move(lock), keep, std::move(err)));
}

Result<void> RefusedLines::add(std::string_view input, std::uint64_t line, std::string_view reason,
                               std::string_view text) {
  const std::string why = shown_line(utf8_prefix(reason, kReasonBytesMax));
  if (shown_ < kShownMax) {
    ++shown_;
    err_(fmt::format("{}:{}: {}{}", shown_line(input), line, why,
                     shown_ == kShownMax ? " (further refused lines are not shown)" : ""));
  }
  if (!file_) return {};
  waiting_ += fmt::format("{}\t{}\t{}\t{}\n", one_line(input), line, why, one_line(text));
  return waiting_.size() < kWriteBytes ? Result<void>() : write();
}

Result<void> RefusedLines::write() {
  TRY_VOID(file_->pwrite(bytes_, waiting_));
  bytes_ += waiting_.size();
  waiting_.clear();
  return {};
}

Result<std::uint64_t> RefusedLines::sync() {
  if (!file_) return 0;
  TRY_VOID(write());
  TRY_VOID(file_->datasync());
  return bytes_;
}

}  // namespace halite::app
