// What /api/config/filters says about each tag filter: OpenTSDB's texts.
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
