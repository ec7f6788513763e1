#include "app/settings/settings_reference.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace halite::app {
namespace {

struct SettingGroup {
  std::string_view prefix;
  std::string_view title;
  std::string_view text;
};

constexpr std::array kSettingGroups = {
    SettingGroup{"", "General", "Where the server listens and where it keeps data."},
    SettingGroup{"auth", "Authentication",
                 "Users, tokens and roles. See [security](../operate/security.md)."},
    SettingGroup{"backup", "Backups",
                 "Backups in S3 stores. See [backup](../operate/backup.md#back-up-to-s3)."},
    SettingGroup{
        "engine", "Embedded engine",
        "Settings of `--store engine`: write-ahead log, heads, chunks, checks and backups."},
    SettingGroup{"graphite", "Graphite",
                 "Ports for Graphite's protocols. See [Graphite](../send-data/graphite.md)."},
    SettingGroup{"hbase", "HBase",
                 "Settings of `--store hbase`. See [HBase](../operate/hbase.md)."},
    SettingGroup{"histograms", "Histograms", ""},
    SettingGroup{"ingest", "Ingest", "Limits and rules for incoming points, over HTTP and telnet."},
    SettingGroup{"log", "Log", "The log of the process."},
    SettingGroup{"memory", "Memory", "See [sizing](../operate/sizing.md#memory)."},
    SettingGroup{"meta", "Metadata",
                 "OpenTSDB's UIDMeta and TSMeta objects, annotations and trees."},
    SettingGroup{"otlp", "OpenTelemetry", "See [OpenTelemetry](../send-data/otlp.md)."},
    SettingGroup{"query", "Queries", "Limits of one query, and of all queries together."},
    SettingGroup{
        "rocksdb", "RocksDB",
        "The embedded RocksDB store, which holds names with `--store engine`, and all data with "
        "`--store rocksdb`."},
    SettingGroup{"rollups", "Rollups", ""},
    SettingGroup{
        "self_metrics", "Own metrics",
        "The server stores its own metrics as points. See the [metrics reference](metrics.md)."},
    SettingGroup{"storage", "Storage", "Layout, retention and series limits."},
    SettingGroup{"threads", "Threads", ""},
    SettingGroup{"tls", "TLS", "See [security](../operate/security.md)."},
    SettingGroup{"web", "HTTP and telnet", "Connections, requests and answers."},
};

constexpr std::string_view kSettingsHead = R"(# Settings reference

<!-- Written by `halite serve --print-config=markdown`. Do not edit. -->

You can set each setting in four places. The first one in this list that names a setting wins:

1. a flag: `--set web.body_bytes_max=64MiB`
2. an environment variable: `HALITE_WEB_BODY_BYTES_MAX=64MiB` (upper case, `.` becomes `_`)
3. the TOML file that `--config` or `HALITE_CONFIG` names
4. the default

`--opentsdb-conf` reads the properties of an `opentsdb.conf` first, so that all of the above override it.
`halite serve --print-config` prints the current value of every setting and its source.

**Types.** A *size* is a number of bytes, or text with a unit: `"64 MiB"`. A *duration* is a number of
milliseconds, or text with a unit: `"90s"`, `"7d"`. A *number* has no unit; the table names what it counts.

**Change.** When a new value takes effect:

- *restart*: at the next start of the server.
- *fixed*: never. The value is fixed when the data directory or the tables are created.
- *file*: a new path takes effect at the next start; changes to the file take effect without a restart.
- *runtime*: at the next start; an endpoint changes the value until then. For `log.level`, this is `/logs?level=DEBUG`.
- *reread*: when the settings file changes, within a second.
)";

std::string_view prefix_of(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string type_text(const Setting& setting) {
  if (setting.type == "number") return fmt::format("number ({})", setting.unit);
  return setting.type;
}

std::string range_text(const Setting& setting) {
  if (setting.type == "choice") {
    std::string out;
    for (std::string_view rest = setting.unit; !rest.empty();) {
      const std::size_t bar = std::min(rest.find(" | "), rest.size());
      out += fmt::format("{}`{}`", out.empty() ? "" : ", ", rest.substr(0, bar));
      rest.remove_prefix(std::min(bar + 3, rest.size()));
    }
    return out;
  }
  if (setting.min_text.empty()) return "";
  if (setting.max_text.empty()) return fmt::format("at least {}", setting.min_text);
  return fmt::format("{} to {}", setting.min_text, setting.max_text);
}

std::string_view change_text(SettingChange change) {
  switch (change) {
    case SettingChange::kRestart:
      break;
    case SettingChange::kFixed:
      return "fixed";
    case SettingChange::kFileReread:
      return "file";
    case SettingChange::kRuntime:
      return "runtime";
    case SettingChange::kReread:
      return "reread";
  }
  return "restart";
}

}  // namespace

std::string settings_markdown(const Config& config) {
  std::map<std::string_view, std::vector<const Setting*>> groups;
  for (const Setting& setting : config.settings()) {
    groups[prefix_of(setting.name)].push_back(&setting);
  }
  std::string out(kSettingsHead);
  for (const auto& [prefix, settings] : groups) {
    const auto* const group = std::ranges::find(kSettingGroups, prefix, &SettingGroup::prefix);
    const bool known = group != kSettingGroups.end();
    out += fmt::format("\n## {}{}\n\n", known ? group->title : prefix,
                       prefix.empty() ? std::string() : fmt::format(": `{}.*`", prefix));
    if (known && !group->text.empty()) out += fmt::format("{}\n\n", group->text);
    out += "| Setting | Type | Default | Range | Change | Meaning |\n|---|---|---|---|---|---|\n";
    for (const Setting* const setting : settings) {
      const std::string standard =
          setting->default_text.empty() ? "empty" : fmt::format("`{}`", setting->default_text);
      out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", setting->name, type_text(*setting),
                         cell(standard), cell(range_text(*setting)), change_text(setting->change),
                         cell(setting->doc));
    }
  }
  return out;
}

}  // namespace halite::app
