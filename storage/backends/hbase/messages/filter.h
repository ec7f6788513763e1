// Filters that a region server applies while it scans. Plain data: made here, read by the server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes.h"

namespace halite::storage::hbase {

// Name of HBase's Java class without its package, and its message. An empty name is no filter.
struct Filter {
  std::string name;
  Bytes message;
  std::string text = {};  // the same for people
};

// Rows that have `key`'s bytes wherever `any` has a 0; where it has a 1, any byte. Both have the
// same length; what follows in the row does not matter. The server jumps from match to match.
struct FuzzyKey {
  Bytes key;
  Bytes any;
};
[[nodiscard]] Filter fuzzy_rows(const std::vector<FuzzyKey>& keys);

// Rows whose key contains a match of a Java regular expression on single bytes (ISO-8859-1, '.' is
// any byte). The server reads every row of the range.
[[nodiscard]] Filter row_regex(const std::string& pattern);

// Rows of any of these ranges (begin included, end excluded, empty = open); the server jumps over
// what is between them.
struct RowSpan {
  Bytes begin;
  Bytes end;
};
[[nodiscard]] Filter row_spans(const std::vector<RowSpan>& spans);

// Cells with begin <= qualifier < end; an empty end is no bound.
[[nodiscard]] Filter qualifier_span(BytesView begin, BytesView end);

// Cells without their values.
[[nodiscard]] Filter keys_only();

// The first cell of each row.
[[nodiscard]] Filter first_cell_only();

// What all of them let through, asked in this order.
[[nodiscard]] Filter all_of(const std::vector<Filter>& filters);

}  // namespace halite::storage::hbase
