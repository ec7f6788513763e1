// One value in few bytes: its type and length, then its bytes, most significant first. Integers are
// zigzag without leading zero bytes, doubles without trailing ones. 0 and 0.0 take one byte.
#pragma once

#include "common/bytes/bytes.h"
#include "common/data_point.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

struct TypedValue {
  ValueBits value = 0;
  bool is_float = false;
};

void append_number(Bytes& to, ValueBits value, bool is_float);

[[nodiscard]] TypedValue read_number(Reader& from);

}  // namespace halite::storage::chunk
