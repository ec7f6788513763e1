// Preloaded into the shipping binary (LD_PRELOAD): its disk forgets what was not synced when the
// power fails.
//
// Writes reach the kernel as ever; what each overwrote is kept until the file is synced, and what
// each change of a directory did until that is. At a power cut any of the unsynced sectors are put
// back, of each directory's changes all but the first so many are undone, and the process ends as
// if by -9. So the next start finds what a disk might hold. tests/support/faulty_files.h does the
// same behind the file interface; this one is beneath everything that the server says to the
// kernel.
//
//   CRASH_DIR    the data directory, absolute; other files are left alone
//   CRASH_SAVED  an empty directory on the same file system, for what removed names stood for
//   CRASH_SEED, CRASH_AFTER, CRASH_AT   as main.cc's; SIGUSR1 cuts the power, too
//   CRASH_DISK=lies   syncs of paths with CRASH_LIES_AT in them do nothing, which has to show
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/preloaded.h"

namespace {

using halite::test::real;
using halite::test::variable;

constexpr std::size_t kSectorBytes = 512;
constexpr int kCut = 137;  // the exit code, as main.cc's

// What a file was when it was synced last, as far as it differs from what it is.
struct Unsynced {
  int descriptor = -1;  // our own
  std::uint64_t size = 0;
  std::map<std::uint64_t, std::string> sectors;  // by number; shorter at the file's end
};

using FileKey = std::pair<dev_t, ino_t>;

class Disk {
 public:
  Disk()
      : dir_(variable("CRASH_DIR")),
        saved_(variable("CRASH_SAVED")),
        part_(variable("CRASH_AT")),
        lies_(variable("CRASH_DISK") == "lies"),
        lies_at_(variable("CRASH_LIES_AT")),
        random_(static_cast<std::uint32_t>(std::atoll(variable("CRASH_SEED").c_str()))),
        to_cut_(std::atoll(variable("CRASH_AFTER").c_str())) {}

  [[nodiscard]] bool mine(std::string_view path) const {
    return !dir_.empty() && path.starts_with(dir_);
  }

  // Before a change of the path.
  void changes(const std::string& path) {
    if (to_cut_ == 0 || path.find(part_) == std::string::npos) return;
    if (--to_cut_ == 0) {
      (void)std::fprintf(stderr, "the power fails at %s\n", path.c_str());
      cut();
    }
  }

  // The content [begin, end) of an open file is about to change, or its size.
  void keep(int descriptor, std::uint64_t begin, std::uint64_t end) {
    Unsynced& file = unsynced(descriptor);
    for (std::uint64_t sector = begin / kSectorBytes; sector * kSectorBytes < end; ++sector) {
      if (file.sectors.contains(sector)) continue;
      std::string old(kSectorBytes, '\0');
      const ssize_t read =
          ::pread(descriptor, old.data(), old.size(), static_cast<off_t>(sector * kSectorBytes));
      old.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
      file.sectors.emplace(sector, std::move(old));
    }
  }

  void synced(int descriptor) {
    const auto found = files_.find(key_of(descriptor));
    if (found == files_.end()) return;
    if (lies_ && path_of(descriptor).find(lies_at_) != std::string::npos) return;
    ::close(found->second.descriptor);
    files_.erase(found);
  }

  void dir_synced(const std::string& dir) { undos_.erase(dir); }

  void changed(const std::string& path, std::function<void()> undo) {
    undos_[path.substr(0, path.rfind('/'))].push_back(std::move(undo));
  }

  // Another name for what the path stands for, so that it outlives it; nothing where there is none.
  std::optional<std::string> save(const std::string& path) {
    std::string saved = saved_ + "/" + std::to_string(++names_);
    if (real<decltype(::link)>("link")(path.c_str(), saved.c_str()) == 0) return saved;
    if (errno != ENOENT) std::abort();  // else what is undone later would be undone halfway
    return std::nullopt;
  }

  [[noreturn]] void cut() {
    for (auto& [key, file] : files_) forget(file);
    for (auto& [dir, undos] : undos_) {
      const std::size_t kept = random_() % (undos.size() + 1);
      while (undos.size() > kept) {
        undos.back()();
        undos.pop_back();
      }
    }
    ::_exit(kCut);
  }

  static std::string path_of(int descriptor) {
    char path[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = ::readlink(link.c_str(), path, sizeof(path));
    return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
  }

  std::mutex mutex;  // around every call

 private:
  static FileKey key_of(int descriptor) {
    struct stat about{};
    ::fstat(descriptor, &about);
    return {about.st_dev, about.st_ino};
  }

  Unsynced& unsynced(int descriptor) {
    const auto [found, fresh] = files_.try_emplace(key_of(descriptor));
    if (fresh) {
      struct stat about{};
      ::fstat(descriptor, &about);
      found->second.size = static_cast<std::uint64_t>(about.st_size);
      found->second.descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    }
    return found->second;
  }

  // Any part of a new size, and any of the sectors that lie in it.
  void forget(const Unsynced& file) {
    struct stat about{};
    ::fstat(file.descriptor, &about);
    const auto now = static_cast<std::uint64_t>(about.st_size);
    const auto [small, large] = std::minmax(file.size, now);
    const std::uint64_t size = small + (random_() % (large - small + 1));
    const auto resize = real<decltype(::ftruncate)>("ftruncate");
    const auto write = real<decltype(::pwrite)>("pwrite");
    if (resize(file.descriptor, static_cast<off_t>(size)) != 0) std::abort();
    for (const auto& [sector, old] : file.sectors) {
      const std::uint64_t begin = sector * kSectorBytes;
      if (begin >= size || random_() % 2 == 0) continue;
      std::string bytes = old;
      bytes.resize(std::min<std::uint64_t>(kSectorBytes, size - begin));
      if (write(file.descriptor, bytes.data(), bytes.size(), static_cast<off_t>(begin)) < 0) {
        std::abort();
      }
    }
  }

  const std::string dir_;
  const std::string saved_;
  const std::string part_;
  const bool lies_;
  const std::string lies_at_;
  std::mt19937 random_;
  std::int64_t to_cut_;
  std::map<FileKey, Unsynced> files_;
  std::map<std::string, std::vector<std::function<void()>>> undos_;  // by directory
  std::uint64_t names_ = 0;
};

Disk& disk() {
  static Disk* const kMade = new Disk;  // it outlives everybody
  return *kMade;
}

void remove_name(const std::string& path) { real<decltype(::unlink)>("unlink")(path.c_str()); }
void move_name(const std::string& from, const std::string& to) {
  real<decltype(::rename)>("rename")(from.c_str(), to.c_str());
}

// Every thread made later leaves the signal to this one.
__attribute__((constructor)) void wait_for_cut() {
  sigset_t cut;
  ::sigemptyset(&cut);
  ::sigaddset(&cut, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &cut, nullptr);
  std::thread([cut] {
    int signal = 0;
    ::sigwait(&cut, &signal);
    disk().mutex.lock();
    disk().cut();
  }).detach();
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  const auto really = real<int(const char*, int, ...)>("open");
  if (!disk().mine(path) || (flags & (O_CREAT | O_TRUNC)) == 0) return really(path, flags, mode);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  const bool there = ::access(path, F_OK) == 0;
  if (there && (flags & O_TRUNC) != 0) {
    const int old = really(path, O_RDWR | O_CLOEXEC);
    struct stat about{};
    if (old >= 0 && ::fstat(old, &about) == 0) {
      disk().keep(old, 0, static_cast<std::uint64_t>(about.st_size));
    }
    if (old >= 0) ::close(old);
  }
  const int made = really(path, flags, mode);
  if (made >= 0 && !there) {
    disk().changed(path, [path = std::string(path)] { remove_name(path); });
  }
  return made;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  const auto really = real<decltype(::pwrite)>("pwrite");
  const std::string path = Disk::path_of(descriptor);
  if (!disk().mine(path)) return really(descriptor, bytes, count, offset);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  disk().keep(descriptor, static_cast<std::uint64_t>(offset),
              static_cast<std::uint64_t>(offset) + count);
  return really(descriptor, bytes, count, offset);
}

int ftruncate(int descriptor, off_t size) noexcept {
  const auto really = real<decltype(::ftruncate)>("ftruncate");
  const std::string path = Disk::path_of(descriptor);
  struct stat about{};
  if (!disk().mine(path) || ::fstat(descriptor, &about) != 0) return really(descriptor, size);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  const auto [begin, end] = std::minmax(size, about.st_size);
  disk().keep(descriptor, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
  return really(descriptor, size);
}

// Nothing has to wait for the real disk: the machine's power does not fail.
int fdatasync(int descriptor) {
  const std::string path = Disk::path_of(descriptor);
  if (!disk().mine(path)) return real<decltype(::fdatasync)>("fdatasync")(descriptor);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  disk().synced(descriptor);
  return 0;
}

int fsync(int descriptor) {
  struct stat about{};
  const std::string path = Disk::path_of(descriptor);
  if (!disk().mine(path)) return real<decltype(::fsync)>("fsync")(descriptor);
  if (::fstat(descriptor, &about) != 0 || !S_ISDIR(about.st_mode)) return fdatasync(descriptor);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  disk().dir_synced(path);
  return 0;
}

int rename(const char* from, const char* to) noexcept {
  const auto really = real<decltype(::rename)>("rename");
  if (!disk().mine(to)) return really(from, to);
  const std::lock_guard lock(disk().mutex);
  disk().changes(to);
  const std::optional<std::string> replaced = disk().save(to);
  const int done = really(from, to);
  if (done == 0) {
    disk().changed(to, [from = std::string(from), to = std::string(to), replaced] {
      move_name(to, from);
      if (replaced) move_name(*replaced, to);
    });
  }
  return done;
}

int unlink(const char* path) noexcept {
  const auto really = real<decltype(::unlink)>("unlink");
  if (!disk().mine(path)) return really(path);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  const std::optional<std::string> saved = disk().save(path);
  const int done = really(path);
  if (done == 0 && saved) {
    disk().changed(path, [path = std::string(path), saved] { move_name(*saved, path); });
  }
  return done;
}

int link(const char* from, const char* to) noexcept {
  const auto really = real<decltype(::link)>("link");
  if (!disk().mine(to)) return really(from, to);
  const std::lock_guard lock(disk().mutex);
  disk().changes(to);
  const int done = really(from, to);
  if (done == 0) disk().changed(to, [to = std::string(to)] { remove_name(to); });
  return done;
}

int mkdir(const char* path, mode_t mode) noexcept {
  const auto really = real<decltype(::mkdir)>("mkdir");
  if (!disk().mine(path)) return really(path, mode);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  const int done = really(path, mode);
  if (done == 0) {
    disk().changed(path,
                   [path = std::string(path)] { real<decltype(::rmdir)>("rmdir")(path.c_str()); });
  }
  return done;
}

int rmdir(const char* path) noexcept {
  const auto really = real<decltype(::rmdir)>("rmdir");
  if (!disk().mine(path)) return really(path);
  const std::lock_guard lock(disk().mutex);
  disk().changes(path);
  const int done = really(path);
  if (done == 0) {
    disk().changed(
        path, [path = std::string(path)] { real<decltype(::mkdir)>("mkdir")(path.c_str(), 0755); });
  }
  return done;
}

}  // extern "C"
