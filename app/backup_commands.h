// The subcommands that make, restore and look after backups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/client/http_client.h"
#include "app/command_line.h"
#include "app/tools/backup_tool.h"

namespace halite::app {

class BackupCommands {
 public:
  // Declares the subcommands. The flags outlive it.
  BackupCommands(CLI::App& app, ServeFlags& flags);

  // Runs the one that was parsed and returns its exit status; nothing if none was.
  [[nodiscard]] std::optional<int> run();

 private:
  void declare_backup(CLI::App& app);
  void declare_restore(CLI::App& app);
  void declare_backups(CLI::App& app);
  // Reads the settings if the place needs any. Prints errors and returns false.
  [[nodiscard]] bool read_settings_of(const CLI::App& tool, const std::string& place,
                                      Options& options);
  [[nodiscard]] int run_backup();
  [[nodiscard]] int run_restore();
  [[nodiscard]] int run_backups();

  ServeFlags& flags_;
  CLI::App* backup_ = nullptr;
  CLI::App* restore_ = nullptr;
  CLI::App* backups_ = nullptr;
  CLI::App* list_ = nullptr;
  CLI::App* verify_ = nullptr;
  CLI::App* prune_ = nullptr;
  std::string to_;
  std::string url_;
  PeerFiles files_;
  RestoreFlags restoring_;
  std::string in_;  // a place of backups
  std::string name_;
  std::uint32_t keep_ = 0;
};

}  // namespace halite::app
