#include "storage/backends/hbase/messages/filter.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/hbase/proto/filter.pb.h"

namespace halite::storage::hbase {

namespace {

constexpr const char* kPackage = "org.apache.hadoop.hbase.filter.";

constexpr std::int32_t kDotAll = 32;  // of java.util.regex: '.' also matches line ends

// `what` follows the name.
Filter made(std::string name, const google::protobuf::MessageLite& message, std::string_view what) {
  std::string text = name;
  text += what;
  return {std::move(name), message.SerializeAsString(), std::move(text)};
}

constexpr std::size_t kKeysTold = 3;

// "(0000??|0001?? and 12 more)"
std::string text_of(const std::vector<FuzzyKey>& keys) {
  std::string text = "(";
  for (std::size_t k = 0; k < std::min(keys.size(), kKeysTold); ++k) {
    if (k > 0) text += '|';
    for (std::size_t i = 0; i < keys[k].key.size(); ++i) {
      const bool any = i < keys[k].any.size() && keys[k].any[i] != 0;
      text += any ? "??" : to_hex(BytesView(keys[k].key).substr(i, 1));
    }
  }
  if (keys.size() > kKeysTold) text += fmt::format(" and {} more", keys.size() - kKeysTold);
  return text + ')';
}

}  // namespace

Filter fuzzy_rows(const std::vector<FuzzyKey>& keys) {
  pb::FuzzyRowFilter filter;
  for (const FuzzyKey& key : keys) {
    pb::BytesBytesPair& pair = *filter.add_fuzzy_keys_data();
    pair.set_first(key.key);
    pair.set_second(key.any);
    for (std::size_t i = 0; i < key.key.size() && i < key.any.size(); ++i) {
      if (key.any[i] != 0) (*pair.mutable_first())[i] = 0;  // HBase compares with zeros there
    }
  }
  return made("FuzzyRowFilter", filter, text_of(keys));
}

Filter row_regex(const std::string& pattern) {
  pb::RegexStringComparator regex;
  regex.set_pattern(pattern);
  regex.set_pattern_flags(kDotAll);
  regex.set_charset("ISO-8859-1");
  pb::RowFilter filter;
  pb::CompareFilter& compare = *filter.mutable_compare_filter();
  compare.set_compare_op(pb::EQUAL);
  compare.mutable_comparator()->set_name(std::string(kPackage) + "RegexStringComparator");
  compare.mutable_comparator()->set_serialized_comparator(regex.SerializeAsString());
  return made("RowFilter", filter, "(=~ " + pattern + ')');
}

Filter row_spans(const std::vector<RowSpan>& spans) {
  pb::MultiRowRangeFilter filter;
  for (const RowSpan& span : spans) {
    pb::RowRange& range = *filter.add_row_range_list();
    range.set_start_row(span.begin);
    range.set_start_row_inclusive(true);
    range.set_stop_row(span.end);
    range.set_stop_row_inclusive(false);
  }
  return made("MultiRowRangeFilter", filter, fmt::format("({} ranges)", spans.size()));
}

Filter qualifier_span(BytesView begin, BytesView end) {
  pb::ColumnRangeFilter filter;
  if (!begin.empty()) filter.set_min_column(std::string(begin));
  filter.set_min_column_inclusive(true);
  if (!end.empty()) filter.set_max_column(std::string(end));
  filter.set_max_column_inclusive(false);
  return made("ColumnRangeFilter", filter, fmt::format("({} to {})", to_hex(begin), to_hex(end)));
}

Filter keys_only() {
  pb::KeyOnlyFilter filter;
  filter.set_len_as_val(false);
  return made("KeyOnlyFilter", filter, "");
}

Filter first_cell_only() { return made("FirstKeyOnlyFilter", pb::FirstKeyOnlyFilter(), ""); }

Filter all_of(const std::vector<Filter>& filters) {
  pb::FilterList list;
  list.set_operator_(pb::FilterList::MUST_PASS_ALL);
  std::string text;
  for (const Filter& filter : filters) {
    text += (text.empty() ? "" : " and ") + filter.text;
    pb::Filter& part = *list.add_filters();
    part.set_name(kPackage + filter.name);
    part.set_serialized_filter(filter.message);
  }
  return {"FilterList", list.SerializeAsString(), std::move(text)};
}

}  // namespace halite::storage::hbase
