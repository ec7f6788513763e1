#include "tests/support/fake_scan_filter.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <re2/re2.h>

#include "common/check.h"
#include "storage/backends/hbase/proto/filter.pb.h"

namespace halite::test {

namespace pb = storage::hbase::pb;

namespace {

template <class Message>
Message parsed(const std::string& bytes) {
  Message message;
  HALITE_CHECK(message.ParseFromString(bytes), "a filter's message");
  return message;
}

bool in_a_range(const pb::MultiRowRangeFilter& filter, BytesView row) {
  return std::ranges::any_of(filter.row_range_list(), [row](const pb::RowRange& range) {
    const bool after =
        range.start_row_inclusive() ? row >= range.start_row() : row > range.start_row();
    const bool before = range.stop_row().empty() || row < range.stop_row() ||
                        (range.stop_row_inclusive() && row == range.stop_row());
    return after && before;
  });
}

bool fits_a_mask(const pb::FuzzyRowFilter& filter, BytesView row) {
  return std::ranges::any_of(filter.fuzzy_keys_data(), [row](const pb::BytesBytesPair& mask) {
    if (row.size() < mask.first().size()) return false;
    for (std::size_t i = 0; i < mask.first().size(); ++i) {
      if (mask.second()[i] == 0 && mask.first()[i] != row[i]) return false;
    }
    return true;
  });
}

bool matches(const pb::RowFilter& filter, BytesView row) {
  const auto comparator = parsed<pb::RegexStringComparator>(
      filter.compare_filter().comparator().serialized_comparator());
  RE2::Options options(RE2::Latin1);
  options.set_dot_nl(true);
  const RE2 regex(comparator.pattern(), options);
  HALITE_CHECK(regex.ok(), "a filter's regular expression");
  return RE2::PartialMatch(re2::StringPiece(row.data(), row.size()), regex);
}

}  // namespace

bool passes_rows(const pb::Filter& filter, BytesView row) {
  const std::string_view name =
      std::string_view(filter.name()).substr(filter.name().rfind('.') + 1);
  const std::string& bytes = filter.serialized_filter();
  if (name == "FilterList") {
    const auto list = parsed<pb::FilterList>(bytes);
    return std::ranges::all_of(list.filters(),
                               [row](const pb::Filter& one) { return passes_rows(one, row); });
  }
  if (name == "RowFilter") return matches(parsed<pb::RowFilter>(bytes), row);
  if (name == "FuzzyRowFilter") return fits_a_mask(parsed<pb::FuzzyRowFilter>(bytes), row);
  if (name == "MultiRowRangeFilter") return in_a_range(parsed<pb::MultiRowRangeFilter>(bytes), row);
  return true;
}

}  // namespace halite::test
