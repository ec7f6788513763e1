// Telnet words other than put: one line each in a table.
//
// Answers are OpenTSDB's texts. `sync` is ours: it answers "synced" once every earlier line of its
// connection is durable, so it belongs to the session and only its name stands here.
#pragma once

#include <string>
#include <string_view>

#include "web/context.h"

namespace halite::web {

struct TelnetCommand {
  std::string_view name;
  bool writes;  // not in tsd.mode ro
  Role role;    // which it wants
  // Appends the reply. `line` is the whole line.
  void (*run)(WebContext& context, std::string_view line, std::string& reply);
};

// nullptr: no such command (put, rollup, histogram, sync, auth and exit are the session's).
[[nodiscard]] const TelnetCommand* find_telnet_command(std::string_view name, Mode mode);

[[nodiscard]] std::string unknown_command(std::string_view word);

// The two lines of `version`.
[[nodiscard]] std::string version_text(const VersionInfo& version);

}  // namespace halite::web
