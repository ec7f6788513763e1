#include "app/bulk/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/json/json_value.h"
#include "storage/files/posix_files.h"

namespace halite::app {
namespace {

constexpr std::uint64_t kCheckpointBytesMax = 16 << 20;  // it lists all inputs
constexpr std::int64_t kFormat = 1;

// Reads members that must be numbers.
class Numbers {
 public:
  explicit Numbers(const boost::json::object& from) : from_(from) {}
  std::uint64_t take(std::string_view name) {
    const boost::json::value* const value = from_.if_contains(name);
    if (value == nullptr || !value->is_int64() || value->get_int64() < 0) {
      complete_ = false;
      return 0;
    }
    return static_cast<std::uint64_t>(value->get_int64());
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  const boost::json::object& from_;
  bool complete_ = true;
};

// What a checkpoint names as the target, without the options of lines behind it.
std::string_view target_shown(std::string_view into) {
  into = into.substr(0, into.rfind(" precision "));
  return into.substr(0, into.find_last_not_of(' ') + 1);
}

std::string with_errors(const std::string& errors) {
  return errors.empty() ? "without --errors" : "with --errors " + errors;
}

// The same for all names of a file, which may not exist yet. Empty: it cannot be known.
std::string canonical_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(path, error), error).string();
}

std::string lock_path(const std::string& checkpoint) {
  const std::string path = canonical_path(checkpoint);
  return (path.empty() ? checkpoint : path) + ".lock";
}

// Whether there is nothing at the path, or a lock that a task left.
bool may_be_lock(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return true;
  return fs::is_regular_file(status) && fs::file_size(path, error) == 0 && !error;
}

// Whether two paths name one file.
bool is_same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(one, error) && fs::exists(other, error)) {
    return !fs::is_character_file(one, error) && fs::equivalent(one, other, error);
  }
  const std::string path = canonical_path(one);
  return !path.empty() && path == canonical_path(other);
}

}  // namespace

Result<void> check_distinct(std::vector<WrittenFile> files, const std::string& checkpoint) {
  if (!checkpoint.empty()) {
    files.push_back({.flag = "--checkpoint", .path = checkpoint});
    files.push_back({.flag = "the lock of --checkpoint", .path = lock_path(checkpoint)});
  }
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (file->path.empty() || file->path == "-") continue;
    const auto same = std::find_if(files.begin(), file, [&file](const WrittenFile& before) {
      return !before.path.empty() && is_same_file(before.path, file->path);
    });
    if (same == file) continue;
    return fail(Errc::kInvalidArgument, fmt::format("{} and {} are both {}; give different files",
                                                    same->flag, file->flag, file->path));
  }
  return {};
}

CheckpointLock::CheckpointLock(std::string path, std::unique_ptr<storage::FileLock> lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

CheckpointLock::~CheckpointLock() {
  if (lock_ && may_be_lock(path_)) static_cast<void>(storage::posix_files()->remove(path_));
}

Result<std::unique_ptr<CheckpointLock>> CheckpointLock::take(const std::string& checkpoint) {
  const std::string path = lock_path(checkpoint);
  std::unique_ptr<storage::FileLock> lock;
  if (!checkpoint.empty()) {
    if (!may_be_lock(path)) {
      return fail(
          Errc::kConflict,
          fmt::format("{} exists, and is no lock of a checkpoint: give another --checkpoint",
                      path));
    }
    auto locked = storage::posix_files()->lock(path);
    if (!locked && locked.error().code == Errc::kConflict) {
      return fail(Errc::kConflict, fmt::format("{}: another import, export or migration that still "
                                               "runs uses it; give another by --checkpoint",
                                               checkpoint));
    }
    TRY(lock, std::move(locked));
  }
  return std::unique_ptr<CheckpointLock>(new CheckpointLock(path, std::move(lock)));
}

CheckpointFile::CheckpointFile(std::string path, const std::vector<std::string>& inputs,
                               std::string into)
    : path_(std::move(path)), into_(std::move(into)) {
  for (const std::string& input : inputs) {
    inputs_.push_back(
        {.path = input, .bytes = file_bytes(input), .modified_ns = file_modified_ns(input)});
  }
}

Result<std::optional<Checkpoint>> CheckpointFile::read() const {
  const auto damaged = [this](std::string_view what) {
    return fail(Errc::kCorruption,
                fmt::format("{} is not a checkpoint of an import: {}; remove it to "
                            "begin again",
                            path_, what));
  };
  const auto files = storage::posix_files();
  TRY(const storage::FileKind kind, files->kind(path_));
  if (kind == storage::FileKind::kNone) return std::nullopt;
  TRY(const Bytes text, storage::read_whole(*files, path_, kCheckpointBytesMax));
  boost::system::error_code error;
  const boost::json::value value = parse_json_value(text, error);
  if (error || !value.is_object()) return damaged("not a JSON object");
  const boost::json::object& object = value.get_object();
  Numbers numbers(object);
  if (numbers.take("format") != kFormat) return damaged("another format");
  const boost::json::value* const named = object.if_contains("lines_are");
  const auto format = named != nullptr && named->is_string()
                          ? ingest::format_named(std::string_view(named->get_string()))
                          : std::nullopt;
  if (!format) return damaged("no format of lines");
  Checkpoint checkpoint{
      .format = *format,
      .position = {.file = numbers.take("file"), .offset = numbers.take("offset")},
      .lines = numbers.take("lines"),
      .totals = {.points = numbers.take("points"), .refused = numbers.take("refused")},
      .errors_bytes = numbers.take("errors_bytes")};
  const boost::json::value* const into = object.if_contains("into");
  if (into == nullptr || !into->is_string()) return damaged("a member is missing");
  if (into->get_string() != into_) {
    const std::string_view before = target_shown(std::string_view(into->get_string()));
    if (before == target_shown(into_)) {
      return fail(Errc::kConflict,
                  fmt::format("{} is of an import with another --precision or other --csv-columns; "
                              "give the same, or remove it to begin again",
                              path_));
    }
    return fail(Errc::kConflict,
                fmt::format("{} is of an import into {}, not into {}; remove it to begin again",
                            path_, before, target_shown(into_)));
  }
  const boost::json::value* const errors = object.if_contains("errors");
  if (errors != nullptr && errors->is_string()) {
    checkpoint.errors = std::string(errors->get_string());
  }
  const boost::json::value* const listed = object.if_contains("inputs");
  if (!numbers.complete() || listed == nullptr || !listed->is_array()) {
    return damaged("a member is missing");
  }
  std::vector<Input> inputs;
  for (const boost::json::value& item : listed->get_array()) {
    const boost::json::value* const input_path =
        item.is_object() ? item.get_object().if_contains("path") : nullptr;
    if (input_path == nullptr || !input_path->is_string()) return damaged("an input has no path");
    Numbers input_numbers(item.get_object());
    Input input{.path = std::string(input_path->get_string()),
                .bytes = input_numbers.take("bytes")};
    if (item.get_object().contains("modified_ns")) {
      input.modified_ns = input_numbers.take("modified_ns");
    } else if (inputs.size() < inputs_.size()) {  // an older version wrote it
      input.modified_ns = inputs_[inputs.size()].modified_ns;
    }
    inputs.push_back(std::move(input));
  }
  if (std::ranges::equal(inputs, inputs_, {}, &Input::path, &Input::path) && inputs != inputs_) {
    return fail(Errc::kConflict,
                fmt::format("{} has another size or time than when the import was interrupted; "
                            "remove {} to begin again",
                            std::ranges::mismatch(inputs, inputs_).in2->path, path_));
  }
  if (inputs != inputs_ || checkpoint.position.file > inputs_.size()) {
    return fail(Errc::kConflict,
                fmt::format("{} is of an import of other files; give the same files in the same "
                            "order, or remove it to begin again",
                            path_));
  }
  return checkpoint;
}

Result<void> CheckpointFile::write(const Checkpoint& checkpoint) const {
  boost::json::array inputs;
  for (const Input& input : inputs_) {
    inputs.push_back(
        {{"path", input.path}, {"bytes", input.bytes}, {"modified_ns", input.modified_ns}});
  }
  boost::json::value value = {{"format", kFormat},
                              {"into", into_},
                              {"inputs", std::move(inputs)},
                              {"lines_are", ingest::format_name(checkpoint.format)},
                              {"file", checkpoint.position.file},
                              {"offset", checkpoint.position.offset},
                              {"lines", checkpoint.lines},
                              {"points", checkpoint.totals.points},
                              {"refused", checkpoint.totals.refused},
                              {"errors_bytes", checkpoint.errors_bytes}};
  if (checkpoint.errors) value.as_object()["errors"] = *checkpoint.errors;
  return storage::write_whole(*storage::posix_files(), path_, boost::json::serialize(value) + "\n");
}

Result<void> check_errors_flag(const std::string& path, const std::optional<std::string>& before,
                               const std::string& now) {
  if (!before || *before == now) return {};
  return fail(
      Errc::kConflict,
      fmt::format("{}: begun {}, continued {}; give the same --errors, or remove {} to begin "
                  "again",
                  path, with_errors(*before), with_errors(now), path));
}

Result<void> remove_checkpoint(const std::string& path) {
  const Result<void> removed = storage::posix_files()->remove(path);
  if (!removed && removed.error().code != Errc::kNotFound) return removed;
  return {};
}

}  // namespace halite::app
