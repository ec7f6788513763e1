// A setting with a list of names, separated by commas.
#pragma once

#include <cstddef>
#include <string_view>

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

}  // namespace halite::web
