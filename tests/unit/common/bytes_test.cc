#include "common/bytes/bytes.h"

#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(Bytes, BigEndianRoundTrip) {
  Bytes bytes;
  append_be<std::uint32_t>(bytes, 0x01020304u);
  append_be<std::uint16_t>(bytes, 0xFFFEu);
  EXPECT_EQ(to_hex(bytes), "01020304FFFE");
  EXPECT_EQ(load_be<std::uint32_t>(bytes.data()), 0x01020304u);
  EXPECT_EQ(load_be<std::uint16_t>(bytes.data() + 4), 0xFFFEu);
}

TEST(Bytes, WidthKeepsTheLowBytes) {
  Bytes bytes;
  append_be_width(bytes, 0x0102030405060708ull, 3);
  append_be_width(bytes, 7, 0);
  EXPECT_EQ(to_hex(bytes), "060708");
  EXPECT_EQ(load_be_width(bytes), 0x060708u);
  EXPECT_EQ(load_be_width(""), 0u);
}

TEST(Bytes, HexTakesEitherCaseAndRefusesTheRest) {
  EXPECT_EQ(to_hex(from_hex("00aBfF").value()), "00ABFF");
  EXPECT_FALSE(from_hex("abc"));
  EXPECT_FALSE(from_hex("0g"));
  EXPECT_EQ(from_hex("").value(), "");
}

TEST(Bytes, PrefixEndIsTheNextPrefix) {
  EXPECT_EQ(prefix_end("ab"), "ac");
  EXPECT_EQ(prefix_end(Bytes("a\xFF", 2)), "b");
  EXPECT_EQ(prefix_end("\xFF\xFF"), "");
}

TEST(Bytes, ViewsCompareAsUnsignedBytes) {
  EXPECT_LT(BytesView("\x7F"), BytesView("\x80"));
  EXPECT_LT(BytesView("a"), BytesView("a\0", 2));
}

}  // namespace
}  // namespace halite
