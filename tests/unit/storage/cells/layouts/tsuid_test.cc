#include "storage/cells/layouts/tsuid.h"

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

TEST(Tsuid, PairsComeInKeyOrder) {
  const std::vector<UidPair> pairs = {{0x010000, 7}, {2, 0xFFFFFF}, {0x0000FF, 1}};
  const Bytes tsuid = make_tsuid({}, 0xABCDEF, pairs);
  EXPECT_EQ(to_hex(tsuid), "ABCDEF000002FFFFFF0000FF000001010000000007");
  const SeriesUids uids = parse_tsuid({}, tsuid).value();
  EXPECT_EQ(uids.metric, 0xABCDEFu);
  EXPECT_EQ(uids.pairs, (std::vector<UidPair>{{2, 0xFFFFFF}, {0xFF, 1}, {0x010000, 7}}));
}

TEST(Tsuid, EachWidthIsItsOwn) {
  const UidWidths widths{4, 2, 5};
  const std::vector<UidPair> pairs = {{1, 2}};
  const Bytes tsuid = make_tsuid(widths, 1, pairs);
  EXPECT_EQ(to_hex(tsuid), "0000000100010000000002");
  EXPECT_EQ(parse_tsuid(widths, tsuid)->pairs, pairs);
  EXPECT_EQ(to_hex(make_tsuid({8, 8, 8}, ~0ull, {})), "FFFFFFFFFFFFFFFF");
}

TEST(Tsuid, HalfAPairIsRefused) {
  EXPECT_TRUE(parse_tsuid({}, Bytes(3, '\1')));
  for (const std::size_t length : {0, 1, 2, 4, 6, 8, 10}) {
    const auto parsed = parse_tsuid({}, Bytes(length, '\1'));
    ASSERT_FALSE(parsed) << length;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument);
  }
}

TEST(Tsuid, WidthsAreOneToEight) {
  EXPECT_TRUE(check_widths({1, 8, 3}));
  EXPECT_EQ(check_widths({0, 3, 3}).error().message,
            "the metric uid width must be 1 to 8 bytes, found 0");
  EXPECT_EQ(check_widths({3, 9, 3}).error().message,
            "the tagk uid width must be 1 to 8 bytes, found 9");
  EXPECT_FALSE(check_widths({3, 3, 0}));
}

}  // namespace
}  // namespace halite::storage
