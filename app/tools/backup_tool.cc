#include "app/tools/backup_tool.h"

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "app/server/data_dir.h"
#include "app/tools/backup_place.h"
#include "app/tools/check_tool.h"
#include "app/tools/keep_owner.h"
#include "app/tools/progress_interval.h"
#include "common/json/json_value.h"
#include "common/log.h"
#include "common/threads/run_here.h"
#include "common/units.h"
#include "storage/files/posix_files.h"
#include "storage/tools/backup/backup.h"
#include "storage/tools/backup/care.h"
#include "storage/tools/check/missing_data.h"

namespace halite::app {
namespace {

using storage::backup::BackupResult;

storage::backup::BackupContext work_of(const Options& options, const Print& err) {
  storage::backup::BackupContext work;
  work.files =
      options.environment.files != nullptr ? options.environment.files : storage::posix_files();
  work.progress = [&err,
                   lines = ProgressInterval()](const storage::backup::Progress& progress) mutable {
    if (!lines.due()) return;
    err(fmt::format("{} of {} MiB", progress.bytes_done >> 20, progress.bytes_total >> 20));
  };
  return work;
}

// Also after a failure: `owner` gives what was created. kNotDone if that fails.
BackupStatus give(const KeepOwner& owner, BackupStatus status, const Print& err) {
  const Result<void> given = owner.give();
  if (given) return status;
  err(given.error().message);
  return BackupStatus::kNotDone;
}

BackupStatus print_outcome(const Result<BackupResult>& outcome, std::string_view done,
                           const Print& out, const Print& err) {
  if (!outcome) {
    err(outcome.error().message);
    return BackupStatus::kNotDone;
  }
  for (const std::string& what : outcome->damaged) out("damaged: " + what);
  out(fmt::format("{} {}: {}, {:.1f} MiB, {:.1f} MiB copied", done, outcome->backup,
                  counted(outcome->files, "file"), static_cast<double>(outcome->bytes) / kMiB,
                  static_cast<double>(outcome->bytes_copied) / kMiB));
  return outcome->damaged.empty() ? BackupStatus::kDone : BackupStatus::kDamaged;
}

Result<std::unique_ptr<storage::backup::BackupStore>> open_store(const std::string& place,
                                                                 const Options& options,
                                                                 storage::FileSystem& files) {
  return open_backup_store({.place = place, .s3 = options.care.s3, .files = files, .ended = {}});
}

Result<BackupResult> backup_locked(const Options& options, const std::string& to,
                                   const Print& err) {
  if (!is_remote_place(to)) {
    TRY_VOID(check_is_path(to));
  }
  TRY(const std::unique_ptr<DataDir> lock, DataDir::open_to_read(options.data_dir));
  TRY_VOID(check_backup_place(to, options.care.s3, options.data_dir));
  const storage::check::CheckOptions look = look_options(options);
  TRY(const storage::check::MissingData missing, storage::check::find_missing_data(look));
  TRY(const bool names, storage::check::has_names(look));
  if (!names && missing.names.empty()) {
    return fail(Errc::kNotFound, fmt::format("nothing was stored in {} yet", options.data_dir));
  }
  const storage::backup::BackupContext work = work_of(options, err);
  TRY(const auto store, open_store(to, options, *work.files));
  TRY(BackupResult outcome, storage::backup::make_backup(work, normal_dir(options.data_dir), *store,
                                                         SystemClock().now_ms()));
  // The rest is worth a backup, but must be reported as incomplete.
  for (const std::string& what : {missing.names, missing.chunks}) {
    if (!what.empty()) outcome.damaged.push_back(what);
  }
  return outcome;
}

Result<BackupResult> restored_from(const Options& options, const RestoreFlags& flags,
                                   const Print& err) {
  TRY_VOID(check_is_path(flags.data_dir));
  TRY_VOID(check_restore_place(flags.from, flags.data_dir));
  const storage::backup::BackupContext work = work_of(options, err);
  TRY(const auto store, open_store(flags.from, options, *work.files));
  return storage::backup::restore(work, *store, flags.backup, normal_dir(flags.data_dir));
}

Result<BackupResult> verified(const Options& options, const std::string& in,
                              const std::string& backup, const Print& err) {
  const storage::backup::BackupContext work = work_of(options, err);
  TRY(const auto store, open_store(in, options, *work.files));
  return storage::backup::verify_backup(work, *store, backup);
}

Result<std::vector<storage::backup::ListedBackup>> listed(const Options& options,
                                                          const std::string& in, const Print& err) {
  const storage::backup::BackupContext work = work_of(options, err);
  TRY(const auto store, open_store(in, options, *work.files));
  return storage::backup::list_backups(work, *store);
}

Result<storage::backup::PruneResult> pruned(const Options& options, const std::string& in,
                                            std::uint32_t keep, const Print& err) {
  const storage::backup::BackupContext work = work_of(options, err);
  TRY(const auto store, open_store(in, options, *work.files));
  return storage::backup::prune_backups(work, *store, keep);
}

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / kMiB; }

// The state of the server's backup job.
Result<boost::json::object> ask_server(const Peer& server, bool begin) {
  HttpRequest asked;
  asked.target = "/api/admin/backup";
  if (begin) asked.body = "{}";  // a POST
  TRY(const HttpReply reply, run_here(send_http(server, asked, HttpLimits())));
  boost::system::error_code error;
  const boost::json::value value = parse_json_value(reply.body, error);
  if (reply.status / 100 != 2 || error || !value.is_object()) {
    return fail(Errc::kUnavailable, fmt::format("{} {}", reply.status, reply.body));
  }
  return value.get_object();
}

std::uint64_t number(const boost::json::object& object, std::string_view name) {
  const boost::json::value* const value = object.if_contains(name);
  boost::system::error_code error;
  const auto number = value != nullptr ? value->to_number<std::uint64_t>(error) : std::uint64_t{0};
  return error ? 0 : number;
}

Result<BackupResult> outcome_of(const boost::json::object& state) {
  if (const boost::json::value* const error = state.if_contains("error")) {
    return fail(Errc::kUnavailable, "the server made no backup: " + boost::json::serialize(*error));
  }
  const boost::json::value* const backup = state.if_contains("backup");
  if (backup == nullptr || !backup->is_string()) {
    return fail(Errc::kUnavailable, "the server did not report how the backup ended");
  }
  BackupResult outcome{.backup = std::string(backup->get_string()),
                       .files = number(state, "files"),
                       .bytes = number(state, "bytes"),
                       .bytes_copied = number(state, "bytes_copied"),
                       .damaged = {}};
  const boost::json::value* const damaged = state.if_contains("damaged");
  if (damaged != nullptr && damaged->is_array()) {
    for (const boost::json::value& what : damaged->get_array()) {
      if (what.is_string()) outcome.damaged.emplace_back(what.get_string());
    }
  }
  return outcome;
}

Result<BackupResult> wait_for_server(const Peer& server, const Print& err) {
  TRY(boost::json::object state, ask_server(server, true));
  for (int looks = 1;; ++looks) {
    const boost::json::value* const running = state.if_contains("running");
    if (running == nullptr || !running->is_bool() || !running->get_bool()) return outcome_of(state);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    TRY(state, ask_server(server, false));
    if (looks % 2 == 0) {
      err(fmt::format("{} of {} MiB", number(state, "bytes_done") >> 20,
                      number(state, "bytes_total") >> 20));
    }
  }
}

}  // namespace

BackupStatus backup_data_dir(const Options& options, const std::string& to, const Print& out,
                             const Print& err) {
  spdlog::set_level(spdlog::level::off);  // no log lines of the stores
  const KeepOwner owner(to);
  return give(owner, print_outcome(backup_locked(options, to, err), "saved as", out, err), err);
}

BackupStatus backup_server(const std::string& url, const PeerFiles& files, const Print& out,
                           const Print& err) {
  const Result<Peer> server = make_peer(url, files);
  if (!server) {
    err(server.error().message);
    return BackupStatus::kNotDone;
  }
  return print_outcome(wait_for_server(*server, err), "saved as", out, err);
}

BackupStatus restore_data_dir(const Options& options, const RestoreFlags& flags, const Print& out,
                              const Print& err) {
  const KeepOwner owner(flags.data_dir);
  const Result<BackupResult> restored = restored_from(options, flags, err);
  const BackupStatus status = print_outcome(restored, "restored", out, err);
  return restored ? give(owner, status, err) : status;
}

BackupStatus list_backups(const Options& options, const std::string& in, const Print& out,
                          const Print& err) {
  const Result<std::vector<storage::backup::ListedBackup>> found = listed(options, in, err);
  if (!found) {
    err(found.error().message);
    return BackupStatus::kNotDone;
  }
  if (found->empty()) err(fmt::format("there is no backup in {}", in));
  BackupStatus status = BackupStatus::kDone;
  for (const storage::backup::ListedBackup& backup : *found) {
    if (backup.error.empty()) {
      out(fmt::format("{}: {}, {:.1f} MiB", backup.name, counted(backup.files, "file"),
                      mib(backup.bytes)));
      continue;
    }
    err(backup.error);
    status = BackupStatus::kDamaged;
  }
  return status;
}

BackupStatus verify_backup(const Options& options, const std::string& in, const std::string& backup,
                           const Print& out, const Print& err) {
  const Result<BackupResult> outcome = verified(options, in, backup, err);
  if (!outcome) {
    err(outcome.error().message);
    return BackupStatus::kNotDone;
  }
  for (const std::string& what : outcome->damaged) out("damaged: " + what);
  out(fmt::format("verified {}: {}, {:.1f} MiB, {} damaged", outcome->backup,
                  counted(outcome->files, "file"), mib(outcome->bytes), outcome->damaged.size()));
  return outcome->damaged.empty() ? BackupStatus::kDone : BackupStatus::kDamaged;
}

BackupStatus prune_backups(const Options& options, const std::string& in, std::uint32_t keep,
                           const Print& out, const Print& err) {
  const KeepOwner owner(in);
  const Result<storage::backup::PruneResult> outcome = pruned(options, in, keep, err);
  if (!outcome) {
    err(outcome.error().message);
    return BackupStatus::kNotDone;
  }
  for (const std::string& name : outcome->removed) out("removed " + name);
  out(fmt::format("kept {}; removed {} and {}, {:.1f} MiB", counted(outcome->kept, "backup"),
                  counted(outcome->removed.size(), "backup"), counted(outcome->files, "file"),
                  mib(outcome->bytes)));
  return give(owner, BackupStatus::kDone, err);
}

}  // namespace halite::app
