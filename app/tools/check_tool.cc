#include "app/tools/check_tool.h"

#include <filesystem>
#include <functional>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/server/data_dir.h"
#include "app/tools/check_report.h"
#include "app/tools/keep_owner.h"
#include "app/tools/progress_interval.h"
#include "common/clock.h"
#include "common/log.h"
#include "storage/files/copy_on_write_files.h"
#include "storage/files/posix_files.h"
#include "storage/tools/check/missing_data.h"
#include "storage/tools/check/repair.h"

namespace halite::app {
namespace {

using storage::check::Report;

std::function<void(const storage::check::Progress&)> progress_lines(const Print& err) {
  return [&err, lines = ProgressInterval()](const storage::check::Progress& progress) mutable {
    if (!lines.due()) return;
    err(fmt::format("read {} of {} MiB", progress.bytes_done >> 20, progress.bytes_total >> 20));
  };
}

Result<Report> check_locked(const Options& options, const CheckFlags& flags, const Print& err) {
  TRY(const std::unique_ptr<DataDir> lock, DataDir::open_to_read(options.data_dir));
  storage::check::CheckOptions check = look_options(options);
  if (flags.progress) check.progress = progress_lines(err);
  return storage::check::check_stored(check);
}

Result<storage::check::RepairReport> repair_locked(const Options& options, const Print& err) {
  TRY_VOID(check_is_data_dir(options.data_dir));  // leaves no lock if there is nothing to repair
  TRY(const std::unique_ptr<DataDir> lock, DataDir::open(options.data_dir));
  storage::check::CheckOptions check = check_options(options);
  check.progress = progress_lines(err);
  const TimestampMs now = SystemClock().now_ms();
  return storage::check::repair_stored(
      check, fmt::format("{}/set-aside/{:%Y%m%dT%H%M%S}Z",
                         std::filesystem::absolute(options.data_dir).lexically_normal().string(),
                         fmt::gmtime(now / 1000)));
}

}  // namespace

storage::check::CheckOptions check_options(const Options& options) {
  const std::filesystem::path dir(options.data_dir);
  storage::check::CheckOptions check;
  check.files =
      options.environment.files != nullptr ? options.environment.files : storage::posix_files();
  check.rocks_dir = (dir / "rocksdb").string();
  check.engine_dir = (dir / "engine").string();
  check.engine = options.engine;
  check.engine.settings_table = options.cells.settings_table;
  check.engine.uid_table = options.cells.uid_table;
  check.engine.series_table = options.cells.series_table;
  return check;
}

storage::check::CheckOptions look_options(const Options& options) {
  storage::check::CheckOptions look = check_options(options);
  look.files = storage::copy_on_write_files(look.files, options.read_only.bytes_max);
  return look;
}

CheckStatus check_data_dir(const Options& options, const CheckFlags& flags, const Print& out,
                           const Print& err) {
  // The report has all findings, so the stores need not log them.
  spdlog::set_level(spdlog::level::off);
  const Result<Report> report = check_locked(options, flags, err);
  if (!report) {
    err(report.error().message);
    return CheckStatus::kNotChecked;
  }
  if (flags.json) {
    out(check_json(*report));
  } else {
    for (const std::string& line : check_lines(*report)) out(line);
  }
  return report->findings.empty() ? CheckStatus::kSound : CheckStatus::kDamaged;
}

RepairStatus repair_data_dir(const Options& options, const Print& out, const Print& err) {
  spdlog::set_level(spdlog::level::off);
  const KeepOwner owner(options.data_dir);
  const Result<storage::check::RepairReport> repaired = repair_locked(options, err);
  const Result<void> given = owner.give();
  if (!given) err(given.error().message);
  if (!repaired) {
    err(repaired.error().message);
    return RepairStatus::kNotRepaired;
  }
  for (const std::string& line : check_lines(repaired->before)) out(line);
  for (const std::string& what : repaired->set_aside) out("set aside: " + what);
  for (const std::string& what : repaired->left) out("left: " + what);
  const bool nothing = repaired->set_aside.empty() && repaired->left.empty() && !repaired->ended_by;
  if (nothing && !repaired->before.findings.empty()) {
    out("nothing was changed: the server answers all that does not need the damaged places; only "
        "a backup has the rest");
  }
  if (repaired->ended_by) {
    err("the repair is incomplete: " + repaired->ended_by->message);
    return RepairStatus::kNotRepaired;
  }
  if (!given) return RepairStatus::kNotRepaired;
  return repaired->before.findings.empty() ? RepairStatus::kSound : RepairStatus::kRepaired;
}

Result<void> refuse_missing_names(const Options& options) {
  const storage::check::CheckOptions look = check_options(options);
  TRY(const bool names, storage::check::has_names(look));
  if (names) return {};
  TRY(const storage::check::MissingData missing, storage::check::missing_data(look, nullptr));
  if (missing.names.empty()) return {};
  return fail(Errc::kConflict, missing.names);
}

}  // namespace halite::app
