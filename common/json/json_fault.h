// What simdjson says of a text that it cannot read.
//
//   Threads  call from any thread.
#pragma once

#include <string>

#include <simdjson.h>

namespace halite {

// The same words with every version of the library.
[[nodiscard]] std::string json_fault(simdjson::error_code error);

}  // namespace halite
