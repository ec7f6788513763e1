#include "app/tools/keep_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace halite::app {
namespace {

// Walks by descriptors and follows no link: the owner of the directory must not be able to lead
// root elsewhere meanwhile.
class Walk {
 public:
  Walk(uid_t user, gid_t group, timespec began) : user_(user), group_(group), began_(began) {}

  // `dir`: an open directory, or AT_FDCWD. Returns 0 or an errno; failed() has the path then.
  int give(int dir, const char* name, const std::string& path) {
    constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int file = ::openat(dir, name, kFlags);
    if (file < 0) {
      if (errno == ELOOP || errno == ENXIO) return 0;  // a link, a socket
      return fail_at(path, errno);
    }
    struct stat info = {};
    if (::fstat(file, &info) != 0) return close_failed(file, path);
    const bool directory = S_ISDIR(info.st_mode);
    const bool single = directory || (S_ISREG(info.st_mode) && info.st_nlink == 1);
    const bool ours = info.st_uid == 0 && std::tie(info.st_ctim.tv_sec, info.st_ctim.tv_nsec) >=
                                              std::tie(began_.tv_sec, began_.tv_nsec);
    if (single && ours && ::fchown(file, user_, group_) != 0) {
      return close_failed(file, path);
    }
    if (directory) return give_entries(file, path);
    ::close(file);
    return 0;
  }
  [[nodiscard]] const std::string& failed() const { return failed_; }

 private:
  // Closes the directory.
  int give_entries(int directory, const std::string& path) {
    DIR* const entries = ::fdopendir(directory);
    if (entries == nullptr) return close_failed(directory, path);
    int why = 0;
    while (why == 0) {
      errno = 0;
      const dirent* const entry = ::readdir(entries);
      if (entry == nullptr) {
        if (errno != 0) why = fail_at(path, errno);
        break;
      }
      const std::string name = entry->d_name;
      if (name != "." && name != "..") why = give(directory, name.c_str(), path + "/" + name);
    }
    ::closedir(entries);
    return why;
  }
  int close_failed(int file, const std::string& path) {
    const int why = errno;
    ::close(file);
    return fail_at(path, why);
  }
  int fail_at(const std::string& path, int why) {
    failed_ = path;
    return why;
  }

  const uid_t user_;
  const gid_t group_;
  const timespec began_;
  std::string failed_;
};

}  // namespace

KeepOwner::KeepOwner(std::string dir) : dir_(std::move(dir)) {
  struct stat info = {};
  if (::geteuid() != 0 || ::stat(dir_.c_str(), &info) != 0) return;
  wanted_ = info.st_uid != 0;
  user_ = info.st_uid;
  group_ = info.st_gid;
  ::clock_gettime(CLOCK_REALTIME_COARSE, &began_);  // the clock of file times
}

Result<void> KeepOwner::give() const {
  if (!wanted_) return {};
  std::error_code error;
  const std::string top = std::filesystem::canonical(dir_, error).string();
  Walk walk(user_, group_, began_);
  const int why = error ? error.value() : walk.give(AT_FDCWD, top.c_str(), top);
  if (why == 0) return {};
  return fail(Errc::kUnavailable,
              fmt::format("cannot give {} to the owner of {}: {}; run chown -R {}:{} {}",
                          error ? dir_ : walk.failed(), dir_, std::generic_category().message(why),
                          user_, group_, dir_));
}

}  // namespace halite::app
