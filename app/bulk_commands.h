// The subcommands that move many points: import, export, migrate.
#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/tools/export_tool.h"
#include "app/tools/import_tool.h"

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
  [[nodiscard]] int run_import();
  [[nodiscard]] int run_export();

  ServeFlags& flags_;
  CLI::App* import_ = nullptr;
  CLI::App* export_ = nullptr;
  ImportFlags importing_;
  ExportFlags exporting_;
  std::string precision_ = "ns";
};

}  // namespace halite::app
