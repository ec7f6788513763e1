#include "storage/tools/check/scrub.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"
#include "common/metrics.h"
#include "common/threads/thread_name.h"
#include "storage/tools/check/chunk_checker.h"
#include "storage/tools/check/name_catalog.h"

namespace halite::storage::check {
namespace {

// Leaves the machine to the work that follows a start.
constexpr std::chrono::hours kFirstPause(1);
constexpr std::uint64_t kNapsPerSecond = 10;

rocks::Damage::DamageMessages words() {
  return {.metrics = "halite_scrub",
          .of = "stored data that no query has read yet is",
          .then =
              "Queries that need it fail. To recover it, stop the server and restore the data "
              "directory from a copy"};
}

}  // namespace

Scrub::Scrub(Dependencies dependencies, ScrubOptions options)
    : dependencies_(std::move(dependencies)),
      options_(options),
      damage_(dependencies_.registry, words()),
      bytes_(add_counter(dependencies_.registry, "halite_scrub_bytes_total",
                         "Bytes of stored files read by the background check.")),
      passes_(add_counter(dependencies_.registry, "halite_scrub_passes_total",
                          "Background checks of all stored tables completed.")),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Scrub::~Scrub() = default;

Result<void> Scrub::begin() {
  const std::lock_guard lock(mutex_);
  if (state_.running) return fail(Errc::kConflict, "a check is already running");
  asked_ = true;
  // No caller takes the last pass's result for that of this one.
  state_ = {.running = true, .began_ms = dependencies_.clock.now_ms()};
  changed_.notify_all();
  return {};
}

ScrubState Scrub::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Scrub::run(const std::stop_token& stop) {
  name_this_thread("scrub");
  while (true) {
    wait_for_turn(stop);
    if (stop.stop_requested()) return;
    pass(stop);
  }
}

void Scrub::wait_for_turn(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto asked = [this] { return asked_; };
  if (options_.interval_ms == 0) {
    changed_.wait(lock, stop, asked);
  } else {
    const std::chrono::milliseconds interval(options_.interval_ms);
    const std::chrono::milliseconds first =
        std::min<std::chrono::milliseconds>(kFirstPause, interval);
    changed_.wait_for(lock, stop, state_.began_ms == 0 ? first : interval, asked);
  }
  asked_ = false;
  state_ = {.running = true, .began_ms = dependencies_.clock.now_ms()};
}

std::vector<Scrub::Table> Scrub::tables() const {
  std::vector<Table> tables;
  for (rocks::LiveFile& file : dependencies_.names.live_files()) {
    tables.push_back({std::move(file), TableOf::kNames});
  }
  if (!dependencies_.chunk_files) return tables;
  for (rocks::LiveFile& file : dependencies_.chunk_files()) {
    tables.push_back({std::move(file), TableOf::kChunks});
  }
  return tables;
}

// Compaction or expiry may remove a file while it is read.
bool Scrub::is_live(const Table& table) const {
  return std::ranges::any_of(tables(),
                             [&](const Table& one) { return one.file.path == table.file.path; });
}

bool Scrub::keep_pace(const std::stop_token& stop, std::size_t bytes) {
  ahead_bytes_ += bytes;
  if (ahead_bytes_ * kNapsPerSecond < options_.bytes_per_s) return !stop.stop_requested();
  const std::chrono::duration<double> nap(static_cast<double>(ahead_bytes_) /
                                          static_cast<double>(options_.bytes_per_s));
  ahead_bytes_ = 0;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, nap, [] { return false; });
  return !stop.stop_requested();
}

void Scrub::pass(const std::stop_token& stop) {
  const std::vector<Table> all = tables();
  Progress progress;
  for (const Table& table : all) progress.bytes_total += table.file.bytes;
  NameCatalog catalog(dependencies_.engine);
  // Without names the files are still checked, but affected series are not listed.
  const Result<void> read = catalog.read_layout(dependencies_.names);
  if (!read && read.error().code != Errc::kNotFound) {
    log::warn("a check cannot determine what is damaged: {}", read.error().message);
  }
  Report report;
  ChunkChecker cells(catalog, report);
  TableChecker checked(dependencies_.files, cells, report);
  const auto pace = [this, &stop](std::size_t bytes) { return keep_pace(stop, bytes); };
  for (const Table& table : all) {
    if (stop.stop_requested()) break;
    const std::size_t before = report.findings.size();
    const Result<std::uint64_t> bytes = checked.check(table.file, table.of, true, pace);
    if (report.findings.size() > before && !is_live(table)) {
      report.findings.resize(before);
      cells.forget_from(before);
    }
    if (!bytes) log::warn("a check cannot read {}: {}", table.file.path, bytes.error().message);
    ++report.files;
    report.bytes += bytes.value_or(0);
    bytes_.Increment(static_cast<double>(bytes.value_or(0)));
    progress.bytes_done += table.file.bytes;
    progress.file = table.file.path;
    const std::lock_guard lock(mutex_);
    state_.progress = progress;
    state_.report = report;
  }
  if (const Result<void> impact = cells.report_impact(); !impact) {
    log::warn("a check cannot determine everything that is damaged: {}", impact.error().message);
  }
  for (const Finding& finding : report.findings) report_finding(finding);
  if (!stop.stop_requested()) passes_.Increment();
  const std::lock_guard lock(mutex_);
  state_.report = std::move(report);
  state_.running = false;
  state_.ended_ms = dependencies_.clock.now_ms();
}

void Scrub::report_finding(const Finding& finding) {
  std::string what = finding.what;
  // RocksDB's messages contain the place already.
  if (!what.contains(" in " + finding.file)) {
    what += fmt::format(" in {} offset {}", finding.file, finding.offset.value_or(0));
  }
  damage_.note({Errc::kCorruption, std::move(what), {}});
}

}  // namespace halite::storage::check
