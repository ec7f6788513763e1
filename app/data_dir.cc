#include "app/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace halite::app {
namespace {

namespace fs = std::filesystem;

// What the holder of the lock wrote: its process id.
std::string read_holder(int file) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  std::string holder(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "" : fmt::format(" (process {})", holder);
}

}  // namespace

Result<std::unique_ptr<DataDir>> DataDir::open(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return fail(Errc::kUnavailable,
                fmt::format("cannot make the data directory {}: {}", path, error.message()));
  }
  const fs::path lock_path = fs::path(path) / "halite.lock";
  const int file = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    return fail(Errc::kUnavailable, fmt::format("cannot write in the data directory {}: {}", path,
                                                std::strerror(errno)));
  }
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = read_holder(file);
    ::close(file);
    return fail(Errc::kConflict,
                fmt::format("the data directory {} is in use by another server{}", path, holder));
  }
  // Nobody but a person reads it: the lock alone decides.
  const std::string id = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, id.data(), id.size(), 0) != static_cast<ssize_t>(id.size())) {
    const int why = errno;
    ::close(file);
    return fail(Errc::kUnavailable,
                fmt::format("cannot write {}: {}", lock_path.string(), std::strerror(why)));
  }
  return std::unique_ptr<DataDir>(new DataDir(path, file));
}

DataDir::~DataDir() { ::close(lock_); }

}  // namespace halite::app
