// Bytes of protobuf from text, in the form of protoscope, without a schema.
//
//   1: {1: "__name__" 2: "up"}   messages and strings; escapes \n \0 \\ \" \xHH
//   1: 1000  1: -1               varints
//   1: 1.5  1: 0x7ff0000000000002  doubles, and their bits
//   1: [0 1 2]                   packed varints
//   `0a1e`                       bytes as they are, in place of a field
#pragma once

#include <string>
#include <string_view>

#include "common/bytes/bytes.h"

namespace halite::test {

// Throws std::runtime_error if the text has another form.
[[nodiscard]] Bytes proto_bytes(std::string_view text);

}  // namespace halite::test
