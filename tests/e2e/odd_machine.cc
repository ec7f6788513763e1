// Preloaded into the server (LD_PRELOAD): a machine whose clock is wrong and whose disk is slow or
// fails, for alerts_test.py.
//
//   ODD_CLOCK_S   seconds that the clock is ahead (negative: behind)
//   ODD_CONTROL   a directory. Its file sync_ms has the milliseconds that each sync takes longer,
//                 read_ms those of each read. While there is a file sync_fails, syncs fail.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/preloaded.h"

namespace {

using halite::test::real;
using halite::test::variable;

std::string control(const char* file) {
  static const std::string kDirectory = variable("ODD_CONTROL");
  return kDirectory.empty() ? "" : kDirectory + "/" + file;
}

void wait_for(const char* file) {
  int milliseconds = 0;
  std::ifstream(control(file)) >> milliseconds;
  if (milliseconds > 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

int sync_with(const char* name, int descriptor) {
  wait_for("sync_ms");
  if (::access(control("sync_fails").c_str(), F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return real<int(int)>(name)(descriptor);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto kReal = real<int(clockid_t, timespec*)>("clock_gettime");
  static const time_t kAhead = std::atoll(variable("ODD_CLOCK_S").c_str());
  const int outcome = kReal(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += kAhead;
  return outcome;
}

int fsync(int descriptor) { return sync_with("fsync", descriptor); }
int fdatasync(int descriptor) { return sync_with("fdatasync", descriptor); }

ssize_t pread(int descriptor, void* to, size_t size, off_t offset) {
  static const auto kReal = real<ssize_t(int, void*, size_t, off_t)>("pread");
  wait_for("read_ms");
  return kReal(descriptor, to, size, offset);
}
}
