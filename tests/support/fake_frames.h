// The frames of a region server's connection, from the server's side.
#pragma once

#include <cstdint>

#include "common/bytes/bytes.h"
#include "tests/support/fake_answer.h"

namespace halite::test {

// A message behind its length, which must be there; `from` becomes what follows it.
BytesView take_delimited(BytesView& from);

// With its length, header and cellblock.
Bytes framed_answer(std::uint32_t call_id, const FakeAnswer& answer);

}  // namespace halite::test
