// The JSON reader for everything but bodies of points and queries. It returns a boost::json::value
// whose doubles are the nearest to the text. Boost's own parser may be off by a few units in the
// last place, so that a number that is printed and read again changes.
//
// See docs/decisions/0052-json-readers.md.
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>

namespace halite {

inline constexpr std::size_t kJsonValueDepthMax = 32;

// Parses the whole text as one value. Arrays and objects nest at most kJsonValueDepthMax deep.
// Returns null and an error otherwise. Of duplicate keys the last counts.
[[nodiscard]] boost::json::value parse_json_value(std::string_view text,
                                                  boost::system::error_code& error);

}  // namespace halite
