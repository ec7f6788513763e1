// Settings with a list of names, separated by commas.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/ascii.h"
#include "web/http/http_message.h"

namespace halite::web {

// True if the list contains that name in any case, or "*".
[[nodiscard]] inline bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view one = trim(list.substr(0, comma));
    if (one == "*" || equal_ignoring_case(one, name)) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

// The names, without blanks around them.
[[nodiscard]] inline std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view one = trim(list.substr(0, comma));
    if (!one.empty()) names.emplace_back(one);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

}  // namespace halite::web
