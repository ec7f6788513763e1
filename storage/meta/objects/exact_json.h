// JSON text as a value whose doubles are those nearest to what is written. Boost's own parser may
// be off by a few units in the last place: what it reads of a number and what it reads of that
// number printed are not the same.
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>

namespace halite::storage {

// The whole text is one value, at most so deep; else null and an error. Of equal keys the last
// counts.
[[nodiscard]] boost::json::value parse_exact_json(std::string_view text, std::size_t depth_max,
                                                  boost::system::error_code& error);

}  // namespace halite::storage
