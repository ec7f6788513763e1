#include "app/bulk/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "common/units.h"

namespace halite::app {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::seconds kElsewhere{60};
constexpr std::size_t kBarWidth = 20;

std::string duration(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  if (s >= 60) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

}  // namespace

Progress::Progress(std::uint64_t bytes_total, bool quiet)
    : bytes_total_(bytes_total), quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  const std::scoped_lock lock(mutex_);
  if (line_) fmt::print(stderr, "\r\033[K");
  line_ = false;
}

void Progress::set(std::uint64_t bytes_done, const ImportTotals& totals) {
  const std::scoped_lock lock(mutex_);
  if (!begun_) {
    begun_ = true;
    bytes_begin_ = bytes_done;
    points_begin_ = totals.points;
  }
  bytes_done_ = bytes_done;
  totals_ = totals;
  const auto now = std::chrono::steady_clock::now();
  if (quiet_) return;
  if (terminal_ ? now - shown_ < kOnTerminal : now - shown_ < kElsewhere) return;
  shown_ = now;
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text(now));
    line_ = true;
  } else {
    fmt::print(stderr, "{}\n", text(now));
  }
}

std::string Progress::text(std::chrono::steady_clock::time_point now) const {
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now - began_).count());
  const double rate = static_cast<double>(totals_.points - points_begin_) / seconds;
  std::string line;
  if (bytes_total_ > 0) {
    const double done =
        std::min(1.0, static_cast<double>(bytes_done_) / static_cast<double>(bytes_total_));
    const auto filled = static_cast<std::size_t>(done * kBarWidth);
    if (terminal_) {
      line = fmt::format("[{}{}] ", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
    }
    line += fmt::format("{:.1f} %, ", 100 * done);
  }
  if (bytes_total_ > 0) {
    line += fmt::format("{} of {} MiB, ", bytes_done_ / kMiB, bytes_total_ / kMiB);
  } else if (bytes_done_ > 0) {
    line += fmt::format("{} MiB, ", bytes_done_ / kMiB);
  }
  line += fmt::format("{:.2f} M points, {:.0f} K points/s",
                      static_cast<double>(totals_.points) / 1e6, rate / 1e3);
  if (totals_.refused > 0) line += fmt::format(", {} refused", totals_.refused);
  const double bytes = static_cast<double>(bytes_done_ - bytes_begin_);
  if (bytes_total_ > bytes_done_ && bytes > 0) {
    line += fmt::format(
        ", {} left", duration(static_cast<double>(bytes_total_ - bytes_done_) * seconds / bytes));
  }
  return line;
}

}  // namespace halite::app
