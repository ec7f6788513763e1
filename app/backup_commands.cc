#include "app/backup_commands.h"

#include "app/tools/backup_place.h"
#include "app/tools/tool_exit.h"

namespace halite::app {
namespace {

constexpr const char* kPlace = "Directory, or s3://BUCKET/PREFIX, with the backups";

}  // namespace

BackupCommands::BackupCommands(CLI::App& app, ServeFlags& flags) : flags_(flags) {
  declare_backup(app);
  declare_restore(app);
  declare_backups(app);
}

std::optional<int> BackupCommands::run() {
  if (backup_->parsed()) return exit_status([this] { return run_backup(); }, print_err);
  if (restore_->parsed()) return exit_status([this] { return run_restore(); }, print_err);
  if (backups_->parsed()) return exit_status([this] { return run_backups(); }, print_err);
  return std::nullopt;
}

void BackupCommands::declare_backup(CLI::App& app) {
  backup_ = app.add_subcommand("backup", "Copy the stored data to a directory or an S3 store");
  declare_offline(*backup_, flags_);
  backup_->add_option("--to", to_,
                      "Directory for backups, or s3://BUCKET/PREFIX; use with --data-dir");
  backup_->add_option("--url", url_,
                      "Back up a running server, http[s]://HOST:PORT, to its engine.backup_dir");
  backup_->add_option("--token-file", files_.token,
                      "File with a token that has the role admin; use with --url");
  declare_ca_file(*backup_, files_);
  backup_->footer("Exit status: 0 backup made, 1 backup made but damage found, 2 no backup made.");
}

void BackupCommands::declare_restore(CLI::App& app) {
  restore_ = app.add_subcommand("restore", "Create a data directory from a backup");
  restore_->add_option("--from", restoring_.from, kPlace)->required();
  restore_->add_option("--backup", restoring_.backup,
                       "Name of the backup to restore (default: the newest)");
  restore_
      ->add_option("--data-dir", flags_.data_dir,
                   "Data directory to create; it must not exist or must be empty")
      ->required();
  declare_settings_sources(*restore_, flags_);
  restore_->footer("Exit status: 0 restored, 1 restored but damage found, 2 not restored.");
}

void BackupCommands::declare_backups(CLI::App& app) {
  backups_ = app.add_subcommand("backups", "List, verify and remove backups");
  backups_->require_subcommand(1);
  list_ = backups_->add_subcommand("list", "List the backups, oldest first");
  list_->footer("Exit status: 0 listed, 1 a manifest is damaged, 2 not listed.");
  verify_ = backups_->add_subcommand("verify", "Read all files of a backup and report damage");
  verify_->add_option("--backup", name_, "Name of the backup to verify (default: the newest)");
  verify_->footer("Exit status: 0 intact, 1 damaged, 2 not verified.");
  prune_ = backups_->add_subcommand("prune",
                                    "Remove old backups, and the files that no other backup needs");
  prune_->add_option("--keep", keep_, "Number of backups to keep, the newest ones")
      ->required()
      ->check(CLI::Range(1U, 1'000'000U));
  prune_->footer("Exit status: 0 removed, 2 an error ended the removal.");
  for (CLI::App* const each : {list_, verify_, prune_}) {
    each->add_option("--in", in_, kPlace)->required();
    declare_settings_sources(*each, flags_);
  }
}

// A directory needs no settings: those of this machine may be damaged or gone.
bool BackupCommands::read_settings_of(const CLI::App& tool, const std::string& place,
                                      Options& options) {
  const bool named = !flags_.config_file.empty() || !flags_.set.empty();
  return (!named && !is_remote_place(place)) || read_offline(tool, flags_, options);
}

int BackupCommands::run_backup() {
  if (to_.empty() == url_.empty() || (!url_.empty() && backup_->count("--data-dir") > 0)) {
    print_err(
        "backup requires either --data-dir DIR --to PLACE, or --url URL alone: a running server "
        "backs up to its engine.backup_dir");
    return kUsage;
  }
  if (!url_.empty()) return static_cast<int>(backup_server(url_, files_, print_out, print_err));
  Options options;
  if (!read_offline(*backup_, flags_, options)) return kUsage;
  return static_cast<int>(backup_data_dir(options, to_, print_out, print_err));
}

int BackupCommands::run_restore() {
  Options options;
  if (!read_settings_of(*restore_, restoring_.from, options)) return kUsage;
  restoring_.data_dir = flags_.data_dir;
  return static_cast<int>(restore_data_dir(options, restoring_, print_out, print_err));
}

int BackupCommands::run_backups() {
  Options options;
  const CLI::App& tool = *backups_->get_subcommands().front();
  if (!read_settings_of(tool, in_, options)) return kUsage;
  if (list_->parsed()) return static_cast<int>(list_backups(options, in_, print_out, print_err));
  if (verify_->parsed()) {
    return static_cast<int>(verify_backup(options, in_, name_, print_out, print_err));
  }
  return static_cast<int>(prune_backups(options, in_, keep_, print_out, print_err));
}

}  // namespace halite::app
