#include "app/server/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"

namespace halite::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReader = ", with --read-only, or by halite check or halite backup";

// The text from the holder of the lock: its process id.
std::string read_holder(int file) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  std::string holder(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "" : fmt::format(" (process {})", holder);
}

// Syncs a directory, so that its entries survive a power failure.
bool sync_directory(const fs::path& path) {
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  const bool synced = ::fsync(directory) == 0;
  const int why = errno;
  ::close(directory);
  errno = why;
  return synced;
}

Result<void> check_name(const std::string& path) {
  if (!path.empty()) return {};
  return fail(Errc::kInvalidArgument, "data_dir is empty; name a directory");
}

// Creates the directory and its parents, and syncs each into its parent. Otherwise a power failure
// could remove a directory full of acknowledged points.
Result<void> make_directory(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  const fs::path above = fs::absolute(path).lexically_normal().parent_path();
  if (above != path) TRY_VOID(make_directory(above));
  if (!fs::create_directory(path, error) && error) {
    return fail(Errc::kUnavailable, fmt::format("cannot create the data directory {}: {}",
                                                path.string(), error.message()));
  }
  if (!sync_directory(above)) {
    return fail(Errc::kUnavailable,
                fmt::format("cannot sync {}: {}", above.string(), std::strerror(errno)));
  }
  return {};
}

// Whether a directory has entries, and none that a server makes.
bool holds_other_files(const fs::path& path) {
  std::error_code unknown;
  bool others = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, unknown)) {
    const std::string name = entry.path().filename().string();
    if (name == "halite.lock" || name == "engine" || name == "rocksdb") return false;
    others = others || name != "lost+found";
  }
  return others;
}

}  // namespace

Result<std::unique_ptr<DataDir>> DataDir::open(const std::string& path) {
  TRY_VOID(check_name(path));
  TRY_VOID(make_directory(path));
  if (holds_other_files(path)) {
    log::warn("the data directory {} holds files, but no data of Halite: is it the right one?",
              path);
  }
  const fs::path lock_path = fs::path(path) / "halite.lock";
  const int file = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    return fail(Errc::kUnavailable, fmt::format("cannot write in the data directory {}: {}", path,
                                                std::strerror(errno)));
  }
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    // A reader shares the lock and has written no process id.
    const bool is_read = ::flock(file, LOCK_SH | LOCK_NB) == 0;
    const std::string holder = is_read ? kReader : read_holder(file);
    ::close(file);
    return fail(Errc::kConflict,
                fmt::format("the data directory {} is in use by another server{}", path, holder));
  }
  // Only for people: the lock alone decides.
  const std::string id = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, id.data(), id.size(), 0) != static_cast<ssize_t>(id.size())) {
    const int why = errno;
    ::close(file);
    return fail(Errc::kUnavailable,
                fmt::format("cannot write {}: {}", lock_path.string(), std::strerror(why)));
  }
  std::unique_ptr<DataDir> dir(new DataDir(path, file));
  TRY(const bool alone, dir->lock_directory(LOCK_EX));
  if (!alone) {
    return fail(Errc::kConflict,
                fmt::format("the data directory {} is in use by another server{}", path, kReader));
  }
  return dir;
}

Result<std::unique_ptr<DataDir>> DataDir::open_to_read(const std::string& path,
                                                       const std::string& advice) {
  TRY_VOID(check_name(path));
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fail(Errc::kNotFound,
                fmt::format("the data directory {} {}", path,
                            fs::exists(path, error) ? "is no directory" : "does not exist"));
  }
  TRY_VOID(check_is_data_dir(path));
  const fs::path lock_path = fs::path(path) / "halite.lock";
  const int file = ::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC);
  // Writers also lock the directory.
  if (file < 0 && errno != ENOENT && errno != EACCES) {
    return fail(Errc::kUnavailable,
                fmt::format("cannot read {}: {}", lock_path.string(), std::strerror(errno)));
  }
  if (file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0) {
    const std::string holder = read_holder(file);
    ::close(file);
    return fail(Errc::kConflict,
                fmt::format("the data directory {} is in use by a server{} that writes to it{}",
                            path, holder, advice));
  }
  std::unique_ptr<DataDir> dir(new DataDir(path, file));
  TRY(const bool unchanged, dir->lock_directory(LOCK_SH));
  if (!unchanged) {
    return fail(Errc::kConflict,
                fmt::format("the data directory {} is in use by a server that writes to it{}", path,
                            advice));
  }
  return dir;
}

Result<bool> DataDir::lock_directory(int how) {
  directory_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_ < 0) {
    return fail(Errc::kUnavailable,
                fmt::format("cannot open {}: {}", path_.string(), std::strerror(errno)));
  }
  return ::flock(directory_, how | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

DataDir::~DataDir() {
  if (lock_ >= 0) ::close(lock_);
  if (directory_ >= 0) ::close(directory_);
}

Result<void> check_is_data_dir(const std::string& path) {
  const fs::path names = fs::path(path) / "rocksdb";
  const fs::path engine = fs::path(path) / "engine";
  for (const fs::path& part : {names, engine}) {
    std::error_code unreadable;
    const fs::file_status status = fs::status(part, unreadable);
    if (fs::is_directory(status)) return {};
    if (fs::exists(status) || status.type() == fs::file_type::not_found) continue;
    return fail(Errc::kUnavailable,
                fmt::format("cannot look into {}: {}", path, unreadable.message()));
  }
  return fail(Errc::kNotFound,
              fmt::format("{} is not a Halite data directory (it has no {} and no {})", path,
                          names.string(), engine.string()));
}

Error explain_full_disk(Error error, const std::string& path, std::uint64_t available_bytes) {
  constexpr std::uint64_t kRoomMin = 64 << 20;  // a start writes less
  const bool may_be = error.code == Errc::kUnavailable || error.code == Errc::kOverloaded ||
                      error.code == Errc::kInternal;
  if (!may_be || available_bytes >= kRoomMin) return error;
  error.message += fmt::format(
      ". The disk of {} is full ({} MiB left): free space outside the data directory, or use a "
      "larger disk, and start again. No data is lost; do not remove files from the data directory",
      path, available_bytes >> 20);
  return error;
}

Error explain_full_disk(Error error, const std::string& path) {
  std::error_code unknown;
  const fs::space_info space = fs::space(path, unknown);
  return unknown ? error : explain_full_disk(std::move(error), path, space.available);
}

}  // namespace halite::app
