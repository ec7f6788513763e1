// A TOML file as a flat list of settings: [web] body_bytes_max = "32 MiB" is web.body_bytes_max.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite {

struct FileSetting {
  std::string name;            // the path to the setting, joined with dots
  std::string text;            // numbers and booleans as in TOML
  std::size_t line = 0;        // from 1
  std::size_t table_line = 0;  // of the table that contains it; 0 = no table
  bool empty_table = false;    // not a setting: `name` is a table that contains none
};

// Returns the settings in file order. kNotFound: the file cannot be read. kInvalidArgument: it is
// not TOML, or a value has a type that no setting has (a list, a date). The message begins with
// "FILE:LINE: " and says what was expected.
[[nodiscard]] Result<std::vector<FileSetting>> read_config_file(const std::string& path);
[[nodiscard]] Result<std::vector<FileSetting>> parse_config_text(std::string_view text,
                                                                 const std::string& path);

}  // namespace halite
