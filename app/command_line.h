// Flags and output that several subcommands of `halite` share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/client/http_client.h"
#include "app/settings/options.h"
#include "app/tools/hbase_plan.h"
#include "common/config/config.h"
#include "common/result.h"

namespace halite::app {

inline constexpr int kUsage = 2;  // the exit status of invalid flags or settings

// The flags of `halite serve`; other subcommands have some of them.
struct ServeFlags {
  std::string config_file;
  std::string opentsdb_conf;
  std::string data_dir;
  std::string listen;
  std::string store;
  std::string hbase_quorum;
  std::string hbase_root;
  std::vector<std::string> set;  // NAME=VALUE
  bool read_only = false;
  std::string print_config;  // "text" or "markdown"; empty = not requested
  bool lower_ttl = false;
};

// The flags that name sources of settings.
void declare_settings_flags(CLI::App& app, ServeFlags& flags);
void declare_data_dir(CLI::App& app, ServeFlags& flags);
void declare_serve(CLI::App& serve, ServeFlags& flags);
// The flags that name the settings of a tool.
void declare_settings_sources(CLI::App& tool, ServeFlags& flags);
// The flags of a tool that works on a data directory without a running server.
void declare_offline(CLI::App& tool, ServeFlags& flags);

// For CLI::Option::check(): a number from `min` to `max`. CLI::Range takes NaN.
[[nodiscard]] std::function<std::string(const std::string&)> number_between(double min, double max);

// Makes empty values of all options of `app` and of its subcommands errors. Call after all options
// are declared.
void refuse_empty_values(CLI::App& app);

// The CAs of a server that is reached by https.
CLI::Option* declare_ca_file(CLI::App& tool, PeerFiles& files);

// The options of `halite hbase plan`.
void declare_plan(CLI::App& plan, HBasePlanFlags& flags);

// The settings file of the flags or the environment; empty: none.
[[nodiscard]] std::string settings_file(const ServeFlags& flags);
// Reads the files, the environment and the flags, in ascending precedence.
[[nodiscard]] Result<void> read_settings(const CLI::App& serve, const ServeFlags& flags,
                                         Config& config, Options& options);
// Reads and completes the settings of a tool. Prints errors and returns false.
[[nodiscard]] bool read_offline(const CLI::App& tool, const ServeFlags& flags, Options& options);

void print_out(std::string_view line);
void print_err(std::string_view line);

}  // namespace halite::app
