// The table of telnet commands other than put.
//
// Replies are OpenTSDB's texts. `sync` is Halite's: it answers "synced" once every earlier line of
// its connection is durable. The session implements it; only its name is here.
#pragma once

#include <string>
#include <string_view>

#include "web/context.h"

namespace halite::web {

struct TelnetCommand {
  std::string_view name;
  bool writes;  // not in tsd.mode ro
  Role role;    // the required role
  // Appends the reply. `line` is the whole line.
  void (*run)(WebContext& context, std::string_view line, std::string& reply);
};

// nullptr: no such command (the session handles put, rollup, histogram, sync, auth and exit).
[[nodiscard]] const TelnetCommand* find_telnet_command(std::string_view name, Mode mode);

[[nodiscard]] std::string unknown_command(std::string_view word);

// The two lines of `version`.
[[nodiscard]] std::string version_text(const VersionInfo& version);

}  // namespace halite::web
