#include "app/bulk_commands.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/bulk/location.h"
#include "app/client/server_url.h"
#include "app/tools/tool_exit.h"

namespace halite::app {
namespace {

constexpr unsigned kJobsMax = 256;

// The flags of a server that is reached by HTTP.
void declare_peer(CLI::App& app, PeerFiles& files) {
  app.add_option("--token-file", files.token, "File with a token; use with --url")->needs("--url");
  declare_ca_file(app, files)->needs("--url");
}

// The flags of a store that this process opens.
void declare_store(CLI::App& app, ServeFlags& flags) {
  declare_settings_flags(app, flags);
  declare_data_dir(app, flags);
  app.add_option("--store", flags.store,
                 "Storage backend: engine, rocksdb or hbase (default: engine)")
      ->check([](const std::string& name) -> std::string {
        if (name == "engine" || name == "rocksdb" || name == "hbase") return {};
        return fmt::format("\"{}\" is none of engine, rocksdb and hbase", name);
      });
}

// Whether a tool was given either a server or flags of a store. Prints an error.
bool has_one_place(const CLI::App& tool, const std::string& url) {
  if (url.empty()) return true;
  for (const char* const flag : {"--data-dir", "--store", "--hbase-quorum", "--hbase-root"}) {
    if (tool.count(flag) == 0) continue;
    print_err(fmt::format("{} and --url exclude each other: a server has its own store", flag));
    return false;
  }
  return true;
}

std::string_view without_slashes(std::string_view text) {
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  return text;
}

// Whether both are one data directory, by whatever names.
bool same_directory(const Options& one, const Options& other) {
  std::error_code error;  // one does not exist: they differ
  return has_data_dir(one.store) && has_data_dir(other.store) &&
         std::filesystem::equivalent(one.data_dir, other.data_dir, error);
}

bool is_one_server(const std::string& one, const std::string& other) {
  const Result<ServerUrl> first = parse_server_url(one);
  const Result<ServerUrl> second = parse_server_url(other);
  return first && second && is_same_server(*first, *second);
}

// In place of CLI::NonNegativeNumber, which shows the greatest double.
std::string check_not_negative(const std::string& text) {
  return text.starts_with('-') ? fmt::format("{} is less than 0", text) : std::string();
}

// The flags that say which points to read.
void declare_source(CLI::App& app, SourceFlags& source) {
  app.add_option("--match", source.match,
                 "Series to read, as in queries: METRIC or METRIC{TAG=FILTER,...}; METRIC may end "
                 "in *; can be repeated (default: all)");
  app.add_option("--start", source.start,
                 "First time, as in queries; required for servers (default: the beginning)");
  app.add_option("--end", source.end, "Time after the last one (default: the end)");
}

void declare_interval(CLI::App& app, double& seconds) {
  constexpr double kMin = 0.001;
  constexpr double kMax = 1e6;
  app.add_option("--checkpoint-interval", seconds, "Seconds between checkpoints (default: 20)")
      ->check(number_between(kMin, kMax));
}

}  // namespace

BulkCommands::BulkCommands(CLI::App& app, ServeFlags& flags) : flags_(flags) {
  declare_import(app);
  declare_export(app);
  declare_migrate(app);
}

std::optional<int> BulkCommands::run() {
  if (import_->parsed()) return exit_status([this] { return run_import(); }, print_err);
  if (export_->parsed()) return exit_status([this] { return run_export(); }, print_err);
  if (migrate_->parsed()) return exit_status([this] { return run_migrate(); }, print_err);
  return std::nullopt;
}

void BulkCommands::declare_import(CLI::App& app) {
  import_ = app.add_subcommand("import", "Read points from files and store them");
  declare_store(*import_, flags_);
  import_->add_option("--url", importing_.url,
                      "Send the points to a running server, http[s]://HOST:PORT");
  declare_peer(*import_, importing_.peer);
  import_->add_option(
      "--format", importing_.format,
      "Format of all files: auto (by the first lines of the first), opentsdb, influx, "
      "prometheus, openmetrics, vmjson, promdump, csv or graphite (default: auto)");
  import_->add_option("--precision", precision_,
                      "Unit of times in influx files: ns, us, ms, s, m or h (default: ns)");
  import_
      ->add_option("--csv-columns", csv_columns_,
                   "Columns of csv files without a header line, for example "
                   "metric,time,value,host")
      ->check([](const std::string& text) -> std::string {
        const auto columns = parse_csv_columns(text);
        return columns ? std::string() : columns.error().message;
      });
  import_->add_option("--hfiles", importing_.hfiles,
                      "With --store hbase: write files to this directory, file:///DIR or "
                      "webhdfs://NAMENODE:9870/DIR, and let region servers take them over");
  import_
      ->add_flag("--fill-gaps", importing_.fill_gaps,
                 "With --hfiles: points that exist stay as they are")
      ->needs("--hfiles");
  import_->add_option("--errors", importing_.errors,
                      "Write refused lines to this new file: input, line number, reason and line, "
                      "separated by tabs");
  import_->add_flag(
      "--resume", importing_.resume,
      "Continue the import that was interrupted; needs the same files, unchanged, and "
      "the same --errors");
  import_->add_option(
      "--checkpoint", importing_.checkpoint,
      "File that says how far the import has come (default: ./halite-import.checkpoint)");
  declare_interval(*import_, importing_.checkpoint_interval_s);
  import_
      ->add_option("--jobs", importing_.jobs,
                   "Threads that parse (default: one for each processor)")
      ->check(CLI::Range(0U, kJobsMax));
  import_
      ->add_option("--rate", importing_.points_per_s_max,
                   "Store at most so many points a second (default: no limit)")
      ->check(check_not_negative);
  import_->add_flag("--quiet", importing_.quiet, "Show no progress");
  import_
      ->add_option("files", importing_.files,
                   "Files, plain or packed by gzip or zstd; - reads "
                   "standard input")
      ->required();
  import_->footer(
      "Without --url, the points go into the store of the settings, which no server may use: by\n"
      "default the data directory ./halite-data, which is created. With --url, the import runs\n"
      "at the lowest priority, so that a server on the same machine answers queries first.\n"
      "\n"
      "  halite import --data-dir /var/lib/halite old.txt.gz\n"
      "  tsdb scan --import 2012/01/01 sum sys.cpu.user | halite import -\n"
      "  halite import --url http://127.0.0.1:4242 --errors refused.txt part-*.zst\n"
      "\n"
      "Exit status: 0 all lines stored, 1 some lines refused, 2 nothing done, or stopped early;\n"
      "--resume then continues.");
}

void BulkCommands::declare_export(CLI::App& app) {
  export_ = app.add_subcommand("export", "Write stored points to a file");
  declare_store(*export_, flags_);
  export_->add_option("--url", exporting_.source.url,
                      "Read from a running server, http[s]://HOST:PORT: Halite, OpenTSDB, "
                      "VictoriaMetrics or Prometheus");
  declare_peer(*export_, exporting_.source.peer);
  declare_source(*export_, exporting_.source);
  export_->add_option("--format", exporting_.format,
                      "Format of the file: opentsdb, influx, prometheus, openmetrics, vmjson, "
                      "promdump, csv or graphite (default: opentsdb)");
  export_->add_option("--output", exporting_.output,
                      "File to create, packed if it ends in .gz or .zst (default: -, standard "
                      "output)");
  export_->add_option("--errors", exporting_.errors,
                      "Write points that the format cannot represent to this new file: series, "
                      "number of points and "
                      "reason, separated by tabs");
  export_->add_flag("--resume", exporting_.resume,
                    "Continue the export that was interrupted; needs the same --errors");
  export_->add_option("--checkpoint", exporting_.checkpoint,
                      "File that says how far the export has come (default: the output's name with "
                      ".checkpoint)");
  declare_interval(*export_, exporting_.checkpoint_interval_s);
  export_->add_option("--jobs", exporting_.jobs, "Threads (default: one for each processor)")
      ->check(CLI::Range(0U, kJobsMax));
  export_->add_flag("--quiet", exporting_.quiet, "Show no progress");
  export_->footer(
      "Without --url, the points come from the store of the settings: by default the data\n"
      "directory ./halite-data, which no server may use.\n"
      "\n"
      "Points are sorted by metric, then by slices of time, then by series, then by time. halite\n"
      "import reads the file back as the same points. opentsdb, influx and csv keep integers; the\n"
      "other formats have only doubles.\n"
      "\n"
      "  halite export --data-dir /var/lib/halite --output all.txt.zst\n"
      "  halite export --match 'sys.cpu.*{host=web*}' --start 2026/01/01 --end 2026/02/01 |\n"
      "    grep -c .\n"
      "\n"
      "Exit status: 0 all points written, 1 the format cannot represent some points, 2 nothing "
      "done,\n"
      "or stopped early; --resume then continues.");
}

int BulkCommands::run_export() {
  Options options;
  if (!has_one_place(*export_, exporting_.source.url)) return kUsage;
  if (!read_offline(*export_, flags_, options)) return kUsage;
  return static_cast<int>(export_files(options, exporting_, print_out, print_err));
}

void BulkCommands::declare_migrate(CLI::App& app) {
  migrate_ = app.add_subcommand("migrate", "Copy points between stores and servers");
  migrate_->add_option("--from", from_, "Source: see below")->required();
  migrate_->add_option("--to", to_, "Target: see below")->required();
  declare_source(*migrate_, migrating_.source);
  migrate_->add_option("--config", flags_.config_file,
                       "Read the settings of both from this TOML file");
  migrate_->add_option("--set", flags_.set, "Set any setting of both: NAME=VALUE; can be repeated");
  migrate_->add_option("--from-set", from_set_, "Set any setting of the source: NAME=VALUE");
  migrate_->add_option("--to-set", to_set_, "Set any setting of the target: NAME=VALUE");
  migrate_->add_option("--from-token-file", migrating_.source.peer.token,
                       "File with a token for the source");
  migrate_->add_option("--to-token-file", migrating_.to_peer.token,
                       "File with a token for the target");
  migrate_->add_option("--ca-file", migrating_.source.peer.ca,
                       "Trust the certificates in this file with https");
  migrate_->add_flag("--verify", migrating_.verify,
                     "Afterwards compare all points by series and hour");
  migrate_->add_flag("--no-copy", compare_only_, "Copy nothing, only compare");
  migrate_->add_flag(
      "--follow", migrating_.follow,
      "After the copy, copy what the source still receives, until it has nothing new "
      "for two minutes");
  migrate_
      ->add_option("--late-ms", migrating_.overlap_ms,
                   "How late followed points may be (default: 3600000)")
      ->check(check_not_negative);
  migrate_
      ->add_option("--quiet-ms", migrating_.quiet_ms,
                   "How long the source must have nothing new (default: 120000)")
      ->check(check_not_negative);
  migrate_->add_flag("--resume", migrating_.resume,
                     "Continue the migration that was interrupted; needs the same --errors");
  migrate_->add_option("--checkpoint", migrating_.checkpoint,
                       "File that says how far it has come (default: ./halite-migrate.checkpoint)");
  declare_interval(*migrate_, migrating_.checkpoint_interval_s);
  migrate_->add_option(
      "--errors", migrating_.errors,
      "Write refused series to this new file: series, number of points and reason, "
      "separated by tabs");
  migrate_->add_option("--jobs", migrating_.jobs, "Threads (default: one for each processor)")
      ->check(CLI::Range(0U, kJobsMax));
  migrate_->add_flag("--quiet", migrating_.quiet, "Show no progress");
  migrate_->footer(
      "Sources and targets:\n"
      "  http[s]://HOST:PORT    a running server. Sources: Halite, OpenTSDB, VictoriaMetrics,\n"
      "                         Prometheus. Targets: Halite, OpenTSDB\n"
      "  hbase://QUORUM[/ROOT]  OpenTSDB's tables on HBase; QUORUM: hosts of ZooKeeper\n"
      "  DIR                    a data directory, which no server may use\n"
      "\n"
      "  halite migrate --from http://tsdb:4242 --start 2020/01/01 --to http://127.0.0.1:4242 \\\n"
      "    --follow --verify\n"
      "  halite migrate --from hbase://zk1,zk2/hbase --to /var/lib/halite\n"
      "\n"
      "Without --match, a server's metrics of itself (halite.*) are not copied.\n"
      "\n"
      "Exit status: 0 all points copied, 1 some points refused, missing or different, 2 nothing\n"
      "done, nothing to compare, or stopped early. --resume continues a copy that was stopped.");
}

int BulkCommands::run_migrate() {
  if (without_slashes(from_) == without_slashes(to_)) {
    print_err(fmt::format("--from and --to are both {}", to_));
    return kUsage;
  }
  const auto side = [this](const std::string& text, const std::vector<std::string>& settings,
                           std::string& url, Options& options) {
    const Result<Location> location = parse_location(text);
    if (!location) {
      print_err(location.error().message);
      return false;
    }
    url = location->url;
    ServeFlags flags = flags_;
    flags.set.insert(flags.set.end(), location->settings.begin(), location->settings.end());
    flags.set.insert(flags.set.end(), settings.begin(), settings.end());
    return read_offline(*migrate_, flags, options);
  };
  Options from;
  Options to;
  if (!side(from_, from_set_, migrating_.source.url, from)) return kUsage;
  if (!side(to_, to_set_, migrating_.to_url, to)) return kUsage;
  if (migrating_.source.url.empty() && migrating_.to_url.empty() && same_directory(from, to)) {
    print_err(fmt::format("--from {} and --to {} are the same directory", from_, to_));
    return kUsage;
  }
  if (is_one_server(migrating_.source.url, migrating_.to_url)) {
    print_err(fmt::format("--from {} and --to {} are the same server", from_, to_));
    return kUsage;
  }
  migrating_.copy = !compare_only_;
  migrating_.to_peer.ca = migrating_.source.peer.ca;
  migrating_.task = fmt::format("migration from {} with {} to {} with {}",
                                describe_source(from, migrating_.source), fmt::join(from_set_, " "),
                                to_, fmt::join(to_set_, " "));
  return static_cast<int>(migrate_points(from, to, migrating_, print_out, print_err));
}

int BulkCommands::run_import() {
  Options options;
  if (!has_one_place(*import_, importing_.url)) return kUsage;
  if (!read_offline(*import_, flags_, options)) return kUsage;
  const auto precision = ingest::time_unit_named(precision_);
  if (!precision) {
    print_err(fmt::format("--precision: \"{}\" is none of ns, us, ms, s, m and h", precision_));
    return kUsage;
  }
  importing_.options.influx_precision = *precision;
  if (!csv_columns_.empty()) {
    auto columns = parse_csv_columns(csv_columns_);
    if (columns) importing_.options.csv_columns = *std::move(columns);
  }
  return static_cast<int>(import_files(options, importing_, print_out, print_err));
}

}  // namespace halite::app
