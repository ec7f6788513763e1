#include "storage/backends/hbase/messages/filter.h"

#include <gtest/gtest.h>

#include "common/bytes/bytes.h"

// Compiled here, so that what they promise can at least be written down.
#include "storage/backends/hbase/client/client.h"

namespace halite::storage::hbase {
namespace {

using namespace std::string_literals;

TEST(HBaseFilter, FuzzyRowsSendZerosWhereAnyByteGoes) {
  const Filter filter = fuzzy_rows({{.key = "abc", .any = "\0\1\0"s}});
  EXPECT_EQ(filter.name, "FuzzyRowFilter");
  EXPECT_EQ(to_hex(filter.message), "0A0A0A036100631203000100");
}

TEST(HBaseFilter, RowRegexIsOnBytes) {
  const Filter filter = row_regex("^a");
  EXPECT_EQ(filter.name, "RowFilter");
  EXPECT_EQ(filter.message,
            "\x0A\x4E\x08\x02\x12\x4A"
            "\x0A\x34org.apache.hadoop.hbase.filter.RegexStringComparator"
            "\x12\x12\x0A\x02^a\x10\x20\x1A\x0AISO-8859-1"s);
}

TEST(HBaseFilter, QualifierSpanLeavesOutAnOpenEnd) {
  EXPECT_EQ(to_hex(qualifier_span("b", "d").message), "0A016210011A01642000");
  EXPECT_EQ(to_hex(qualifier_span("", "").message), "10012000");
}

TEST(HBaseFilter, RowSpansSayWhichEndsBelong) {
  EXPECT_EQ(to_hex(row_spans({{.begin = "a", .end = "b"}, {.begin = "x", .end = ""}}).message),
            "0A0A0A016110011A016220000A090A017810011A002000");
}

TEST(HBaseFilter, AllOfNamesEachClassInFull) {
  const Filter filter = all_of({keys_only(), first_cell_only()});
  EXPECT_EQ(filter.name, "FilterList");
  EXPECT_EQ(filter.message,
            "\x08\x01\x12\x32"
            "\x0A\x2Corg.apache.hadoop.hbase.filter.KeyOnlyFilter\x12\x02\x08\x00\x12\x35"
            "\x0A\x31org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter\x12\x00"s);
}

}  // namespace
}  // namespace halite::storage::hbase
