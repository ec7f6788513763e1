// A TOML file as a flat list of settings: [web] body_bytes_max = "32 MiB" is web.body_bytes_max.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite {

struct FileSetting {
  std::string name;      // the path to it, joined with dots
  std::string text;      // numbers and truth values as TOML writes them
  std::size_t line = 0;  // from 1
};

// In the file's order. kNotFound: it cannot be read. kInvalidArgument: it is not TOML, or holds a
// value no setting can have (a list, a date); the message begins with "FILE:LINE: ".
[[nodiscard]] Result<std::vector<FileSetting>> read_config_file(const std::string& path);
[[nodiscard]] Result<std::vector<FileSetting>> parse_config_text(std::string_view text,
                                                                 const std::string& path);

}  // namespace halite
