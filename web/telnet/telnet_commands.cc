#include "web/telnet/telnet_commands.h"

#include <array>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "web/stats.h"
#include "web/telnet/drop_caches.h"

namespace halite::web {

namespace {

void run_version(WebContext& context, std::string_view, std::string& reply) {
  reply += version_text(context.services.version);
}

void run_stats(WebContext& context, std::string_view, std::string& reply) {
  append_stats_lines(reply, collect_stats(context.services, context.options));
}

void run_help(WebContext& context, std::string_view, std::string& reply) {
  const bool writes = context.options.mode != Mode::kReadOnly;
  reply += "available commands: stats dropcaches version exit help ";
  if (writes) reply += "put rollup histogram ";
  if (writes && !context.options.opentsdb_words) reply += "incr sync ";
  if (!context.options.access.file.empty()) reply += "auth ";
  reply += "diediedie \n";
}

// One client must not be able to stop the server for all.
void run_diediedie(WebContext&, std::string_view, std::string& reply) {
  reply += "diediedie: disabled; stop the process instead\n";
}

void run_dropcaches(WebContext& context, std::string_view, std::string& reply) {
  drop_caches(context.services);
  reply += "Caches dropped.\n";
}

constexpr std::array kCommands = {
    TelnetCommand{"version", false, Role::kNone, run_version},
    TelnetCommand{"stats", false, Role::kRead, run_stats},
    TelnetCommand{"help", false, Role::kNone, run_help},
    TelnetCommand{"diediedie", false, Role::kNone, run_diediedie},
    TelnetCommand{"dropcaches", false, Role::kAdmin, run_dropcaches},
};

}  // namespace

const TelnetCommand* find_telnet_command(std::string_view name, Mode mode) {
  for (const TelnetCommand& command : kCommands) {
    const bool offered = !command.writes || mode != Mode::kReadOnly;
    if (command.name == name && offered) return &command;
  }
  return nullptr;
}

std::string unknown_command(std::string_view word) {
  // Bytes that are not UTF-8 are ISO-8859-1. The reply is always UTF-8, as in OpenTSDB.
  const std::string text = is_utf8(word) ? std::string(word) : latin1_to_utf8(word);
  return fmt::format("unknown command: {}.  Try `help'.\n", text);
}

std::string version_text(const VersionInfo& version) {
  return fmt::format(
      "net.opentsdb.tools {} built at revision {} ({})\n"
      "Built on {:%Y/%m/%d %H:%M:%S} +0000 by {}@{}:{}\n",
      version.version, version.short_revision, version.repo_status,
      fmt::gmtime(static_cast<std::time_t>(version.built_s)), version.user, version.host,
      version.repo);
}

}  // namespace halite::web
