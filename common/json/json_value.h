// The reader of JSON that is not a body of points or of a question: a boost::json::value whose
// doubles are those nearest to the text. Boost's own parser may be off by a few units in the last
// place, so that a number printed and read again is another one.
//
// See docs/decisions/0052-json-readers.md.
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>

namespace halite {

inline constexpr std::size_t kJsonValueDepthMax = 32;

// Reads the whole text as one value, with arrays and objects at most kJsonValueDepthMax deep. Null
// and an error otherwise. Of equal keys the last counts.
[[nodiscard]] boost::json::value parse_json_value(std::string_view text,
                                                  boost::system::error_code& error);

}  // namespace halite
