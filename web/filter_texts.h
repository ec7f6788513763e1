// OpenTSDB's descriptions of tag filters, for /api/config/filters.
#pragma once

#include <span>
#include <string_view>

namespace halite::web {

struct FilterText {
  std::string_view name;
  std::string_view examples;
  std::string_view description;
};

[[nodiscard]] std::span<const FilterText> filter_texts();

}  // namespace halite::web
