// The subcommands that move many points: import, export, migrate.
#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/tools/export_tool.h"
#include "app/tools/import_tool.h"
#include "app/tools/migrate_tool.h"

namespace halite::app {

class BulkCommands {
 public:
  // Declares the subcommands. The flags outlive it.
  BulkCommands(CLI::App& app, ServeFlags& flags);

  // Runs the one that was parsed and returns its exit status; nothing if none was.
  [[nodiscard]] std::optional<int> run();

 private:
  void declare_import(CLI::App& app);
  void declare_export(CLI::App& app);
  void declare_migrate(CLI::App& app);
  [[nodiscard]] int run_import();
  [[nodiscard]] int run_export();
  [[nodiscard]] int run_migrate();

  ServeFlags& flags_;
  CLI::App* import_ = nullptr;
  CLI::App* export_ = nullptr;
  CLI::App* migrate_ = nullptr;
  ImportFlags importing_;
  ExportFlags exporting_;
  MigrateFlags migrating_;
  bool compare_only_ = false;
  std::string from_;
  std::string to_;
  std::vector<std::string> from_set_;  // NAME=VALUE
  std::vector<std::string> to_set_;
  std::string precision_ = "ns";
  std::string csv_columns_;
};

}  // namespace halite::app
