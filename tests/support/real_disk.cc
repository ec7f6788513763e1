#include "tests/support/real_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "common/check.h"
#include "storage/files/files.h"

namespace halite::test {

namespace fs = std::filesystem;

namespace {

void must(bool done, const std::string& what) {
  const std::string why = std::generic_category().message(errno);
  HALITE_CHECK(done, fmt::format("{}: {}", what, why).c_str());
}

Bytes content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t inode_of(const fs::path& path) {
  struct stat about{};
  must(::stat(path.c_str(), &about) == 0, "cannot look at " + path.string());
  return about.st_ino;
}

}  // namespace

RealDisk::RealDisk(std::string root) : root_(std::move(root)), files_(root_ + "/.files") {
  fs::create_directories(root_);
  fs::remove_all(files_);  // of an earlier process
  fs::create_directory(files_);
}

std::string RealDisk::path_of(std::uint64_t file) const {
  return fmt::format("{}/{}", files_, file);
}

std::vector<LastingDisk::Stored> RealDisk::read() {
  std::vector<Stored> all;
  for (std::string above = root_; above != "/"; above = storage::dir_of(above)) {
    all.insert(all.begin(), {.path = above, .file = kDirectory, .bytes = {}});
  }
  std::map<std::uint64_t, std::uint64_t> numbers;  // by the system's inode
  std::set<fs::path> paths;
  for (auto it = fs::recursive_directory_iterator(root_); it != fs::recursive_directory_iterator();
       ++it) {
    if (it->path() == files_) {
      it.disable_recursion_pending();
    } else {
      paths.insert(it->path());
    }
  }
  for (const fs::path& path : paths) {
    if (fs::is_directory(path)) {
      all.push_back({.path = path.string(), .file = kDirectory, .bytes = {}});
      continue;
    }
    const auto [known, is_new] = numbers.try_emplace(inode_of(path), numbers.size() + 1);
    Bytes bytes;
    if (is_new) {
      fs::create_hard_link(path, path_of(known->second));
      bytes = content_of(path);
    }
    all.push_back({.path = path.string(), .file = known->second, .bytes = std::move(bytes)});
  }
  return all;
}

void RealDisk::make(std::uint64_t file) {
  const std::ofstream made(path_of(file), std::ios::binary);
  must(made.good(), "cannot make " + path_of(file));
}

void RealDisk::resize(std::uint64_t file, std::uint64_t bytes) {
  must(::truncate(path_of(file).c_str(), static_cast<off_t>(bytes)) == 0,
       "cannot resize " + path_of(file));
}

void RealDisk::write(std::uint64_t file, std::uint64_t offset, BytesView bytes) {
  const std::string path = path_of(file);
  const int opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  must(opened >= 0, "cannot open " + path);
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(opened, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    must(written > 0, "cannot write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  ::close(opened);
}

bool RealDisk::is(const std::string& path, std::uint64_t file) const {
  struct stat there{};
  return ::stat(path.c_str(), &there) == 0 && there.st_ino == inode_of(path_of(file));
}

// In one step, whatever is at `path`.
void RealDisk::link(std::uint64_t file, const std::string& path) {
  if (is(path, file)) return;
  const std::string second = files_ + "/named";
  ::unlink(second.c_str());  // of one that the end of a process interrupted
  must(::link(path_of(file).c_str(), second.c_str()) == 0, "cannot link " + path);
  must(::rename(second.c_str(), path.c_str()) == 0, "cannot rename to " + path);
}

void RealDisk::change(const std::string& dir, const Entries& entries) {
  fs::create_directories(dir);
  // A file that gets another name in the same directory: both at once.
  if (entries.size() == 2 && entries[0].second && !entries[1].second) {
    const std::string to = dir + "/" + entries[0].first;
    const std::string from = dir + "/" + entries[1].first;
    if (is(from, *entries[0].second) && !is(to, *entries[0].second)) {
      must(::rename(from.c_str(), to.c_str()) == 0, "cannot rename " + from);
      return;
    }
  }
  for (const auto& [name, file] : entries) {
    const std::string path = dir + "/" + name;
    if (!file) {
      must(::remove(path.c_str()) == 0 || errno == ENOENT, "cannot remove " + path);
    } else if (*file == kDirectory) {
      fs::create_directories(path);
    } else {
      link(*file, path);
    }
  }
}

}  // namespace halite::test
