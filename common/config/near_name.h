// Finds the name that somebody who wrote an unknown one probably meant.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace halite {

// The number of characters to insert, remove or change to turn one text into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

// The name most similar to `asked`; empty if none is worth a suggestion. Names consist of words,
// separated by '.' and '_'. A name is worth a suggestion if at most a third of the letters of
// `asked` differ, or if words with more than half of these letters are similar to words of the name
// in that way.
[[nodiscard]] std::string_view nearest_name(std::string_view asked,
                                            std::span<const std::string_view> names);

}  // namespace halite
