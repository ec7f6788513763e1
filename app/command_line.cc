#include "app/command_line.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "app/settings/memory_settings.h"

namespace halite::app {
namespace {

// Where a setting was set: "halite.toml:3", "--set" or "environment HALITE_VIEWS". Empty: nowhere.
std::string place_of(const Config& config, std::string_view name) {
  for (const Setting& setting : config.settings()) {
    if (setting.name != name || setting.source == SettingSource::kDefault) continue;
    std::string_view place = setting.origin;
    for (const std::string_view kind : {"file ", "flag "}) {
      if (place.starts_with(kind)) place.remove_prefix(kind.size());
    }
    return std::string(place);
  }
  return {};
}

}  // namespace

void declare_settings_flags(CLI::App& app, ServeFlags& flags) {
  app.add_option("--config", flags.config_file, "Read settings from this TOML file");
  app.add_option("--opentsdb-conf", flags.opentsdb_conf,
                 "Read an opentsdb.conf, and answer as OpenTSDB does with its properties");
  app.add_option("--hbase-quorum", flags.hbase_quorum,
                 "ZooKeeper hosts of HBase, HOST:PORT[,...] (default: localhost:2181)");
  app.add_option("--hbase-root", flags.hbase_root,
                 "ZooKeeper node of the HBase cluster (default: /hbase)");
  app.add_option("--set", flags.set, "Set any setting: NAME=VALUE; can be repeated");
}

void declare_data_dir(CLI::App& app, ServeFlags& flags) {
  app.add_option("--data-dir", flags.data_dir, "Data directory (default: ./halite-data)");
}

void declare_serve(CLI::App& serve, ServeFlags& flags) {
  declare_settings_flags(serve, flags);
  declare_data_dir(serve, flags);
  serve.add_option("--listen", flags.listen,
                   "Address and port for HTTP and telnet (default: 127.0.0.1:4242)");
  serve.add_option("--store", flags.store,
                   "Storage backend: engine, rocksdb, memory or hbase (default: engine)");
  serve.add_flag("--read-only", flags.read_only,
                 "Answer queries and write nothing to the data directory");
  serve
      .add_flag("--print-config{text}", flags.print_config,
                "Print every setting with its unit, default and source, and exit; "
                "--print-config=markdown prints the settings reference")
      ->check(CLI::IsMember({"text", "markdown"}));
}

std::string settings_file(const ServeFlags& flags) {
  const char* const named = std::getenv("HALITE_CONFIG");  // NOLINT(concurrency-mt-unsafe)
  return flags.config_file.empty() && named != nullptr ? named : flags.config_file;
}

Result<void> read_settings(const CLI::App& serve, const ServeFlags& flags, Config& config,
                           Options& options) {
  if (!flags.opentsdb_conf.empty()) {
    TRY(options.opentsdb, apply_opentsdb_conf(flags.opentsdb_conf, config));
  }
  const std::string file = settings_file(flags);
  if (!file.empty()) TRY_VOID(config.apply_file(file));
  TRY_VOID(config.apply_environment(environ));
  for (const std::string& assignment : flags.set) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("--set: \"{}\" is not of the form NAME=VALUE", assignment));
    }
    TRY_VOID(
        config.apply_flag("--set", assignment.substr(0, equals), assignment.substr(equals + 1)));
  }
  struct Flag {
    const char* name;
    const char* setting;
    const std::string& value;
  };
  for (const Flag& flag :
       {Flag{"--data-dir", "data_dir", flags.data_dir}, Flag{"--listen", "listen", flags.listen},
        Flag{"--store", "store", flags.store},
        Flag{"--hbase-quorum", "hbase.quorum", flags.hbase_quorum},
        Flag{"--hbase-root", "hbase.root", flags.hbase_root}}) {
    if (serve.get_option_no_throw(flag.name) == nullptr || serve.count(flag.name) == 0) continue;
    TRY_VOID(config.apply_flag(flag.name, flag.setting, flag.value));
  }
  if (flags.read_only) TRY_VOID(config.apply_flag("--read-only", "read_only", "true"));
  options.counters_place = place_of(config, "counters");
  options.views_place = place_of(config, "views");
  return resolve_memory(config, options);
}

void declare_settings_sources(CLI::App& tool, ServeFlags& flags) {
  tool.add_option("--config", flags.config_file, "Read the server's settings from this TOML file");
  tool.add_option("--set", flags.set, "Set any setting: NAME=VALUE; can be repeated");
}

void declare_offline(CLI::App& tool, ServeFlags& flags) {
  declare_data_dir(tool, flags);
  declare_settings_sources(tool, flags);
}

std::function<std::string(const std::string&)> number_between(double min, double max) {
  return [min, max](const std::string& text) -> std::string {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool whole = !text.empty() && end == text.c_str() + text.size();
    if (whole && number >= min && number <= max) return {};
    return fmt::format("\"{}\" is not a number from {} to {}", text, min, max);
  };
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;  // a flag
    option->check([](const std::string& text) -> std::string {
      return text.empty() ? "it is empty; name a value or leave the option out" : "";
    });
  }
  for (CLI::App* const each : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_empty_values(*each);
  }
}

CLI::Option* declare_ca_file(CLI::App& tool, PeerFiles& files) {
  return tool.add_option(
      "--ca-file", files.ca,
      "Trust the certificates in this file with https (default: those of this machine)");
}

void declare_plan(CLI::App& plan, HBasePlanFlags& flags) {
  plan.add_option("--points-per-s", flags.points_per_s, "Points a second")->required();
  plan.add_option("--series", flags.series, "Series that get these points")->required();
  plan.add_option("--days", flags.days, "Days for which points are kept")->required();
  plan.add_option("--tags", flags.tags, "Tags of a series (default: 5)");
  plan.add_option("--metrics", flags.metrics, "Metrics (default: 1000)");
  plan.add_option("--tag-values", flags.tag_values,
                  "Values of all tags (default: series / metrics, one tag with all of them)");
  plan.add_option("--form", flags.form,
                  "How points are written: cells, ring (storage.layout = cyclic), appends "
                  "(hbase.appends) or backfill (hbase.compact_batches) (default: cells)");
  plan.add_option("--replication", flags.replication, "Copies of each block in HDFS (default: 3)");
  plan.add_option("--cores", flags.cores, "Cores of a machine (default: 16)");
  plan.add_option("--disk", flags.disk, "Disks of a region server's machine (default: 16 TB)");
  plan.add_option("--memory", flags.memory, "Memory of a machine (default: 64 GiB)");
  plan.add_flag("--json", flags.json, "Print JSON");
}

void print_out(std::string_view line) { fmt::print("{}\n", line); }
void print_err(std::string_view line) {
  const std::string text = fmt::format("halite: {}\n", line);
  // If this fails, too, there is no place for a message.
  std::ignore = std::fwrite(text.data(), 1, text.size(), stderr);
}

bool read_offline(const CLI::App& tool, const ServeFlags& flags, Options& options) {
  Config config;
  declare_settings(config, options);
  Result<void> known = read_settings(tool, flags, config, options);
  if (known) known = resolve_options(options);
  if (!known) print_err(known.error().message);
  return known.has_value();
}

}  // namespace halite::app
