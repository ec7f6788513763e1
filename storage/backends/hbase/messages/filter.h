// Filters that a region server applies during a scan, as plain data.
#pragma once

#include <string>
#include <vector>

#include "common/bytes/bytes.h"

namespace halite::storage::hbase {

// The name of HBase's Java class without its package, and its message. An empty name is no filter.
struct Filter {
  std::string name;
  Bytes message;
  std::string text = {};  // description for people
};

// Selects rows that equal `key` at each byte where `any` is 0; where it is 1, any byte matches.
// Both have one length; later bytes of the row do not matter. The server seeks from match to match.
struct FuzzyKey {
  Bytes key;
  Bytes any;
};
[[nodiscard]] Filter fuzzy_rows(const std::vector<FuzzyKey>& keys);

// Selects rows whose key contains a match of a Java regular expression on single bytes (ISO-8859-1,
// '.' is any byte). The server reads every row of the range.
[[nodiscard]] Filter row_regex(const std::string& pattern);

// Selects rows in any of these ranges (begin included, end excluded, empty = open). The server
// seeks over the gaps.
struct RowSpan {
  Bytes begin;
  Bytes end;
};
[[nodiscard]] Filter row_spans(const std::vector<RowSpan>& spans);

// Selects cells with begin <= qualifier < end; an empty end is open.
[[nodiscard]] Filter qualifier_span(BytesView begin, BytesView end);

// Returns cells without their values.
[[nodiscard]] Filter keys_only();

// Selects the first cell of each row.
[[nodiscard]] Filter first_cell_only();

// Selects what all filters select. The server applies them in this order.
[[nodiscard]] Filter all_of(const std::vector<Filter>& filters);

}  // namespace halite::storage::hbase
