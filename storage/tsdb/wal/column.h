// A column of integers in as few whole bytes each as its range needs, exact for every bit pattern.
//
//   head(1) · base(8) · [step(8)] · count × width bytes
//
// Plain: value = base + stored. With steps (head bit 7): the first value is base, each next one is
// the one before + step + stored, for count - 1 stored ones. All modulo 2^64. Width: 0, 1, 2, 4, 8.
// An empty column has no bytes. Whichever of the two is narrower is written; plain when equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"

namespace halite::storage::log_records {

template <class Value>
void append_column(Bytes& to, std::span<const Value> values);

// Takes a column of `count` values off the front of `rest`. kCorruption: it ends early, its head is
// none, or a value does not fit.
template <class Value>
Result<void> read_column(BytesView& rest, std::size_t count, std::vector<Value>& values);

}  // namespace halite::storage::log_records
