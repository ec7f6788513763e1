// A column of integers, in the smallest common width of whole bytes. Exact for every bit pattern.
//
//   head(1) · base(8) · [step(8)] · count × width bytes
//
// Plain: value = base + stored. With steps (head bit 7): the first value is base, and each next one
// is the previous value + step + stored, for count - 1 stored ones. All arithmetic is modulo 2^64.
// Width: 0, 1, 2, 4 or 8. An empty column has no bytes. The narrower form is written; plain if
// equal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"

namespace halite::storage::log_records {

template <class Value>
void append_column(Bytes& to, std::span<const Value> values);

// Removes a column of `count` values from the front of `rest`. kCorruption: it ends early, has an
// invalid head, or a value does not fit.
template <class Value>
Result<void> read_column(BytesView& rest, std::size_t count, std::vector<Value>& values);

}  // namespace halite::storage::log_records
