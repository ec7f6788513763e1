#include "storage/cells/layouts/salt.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/storage/cells/layouts/examples.h"

namespace halite::storage {
namespace {

TEST(OpentsdbSalt, HashesAsJavaDoes) {
  EXPECT_EQ(opentsdb_hash(hex("000001000001000001")), 691019968);
  EXPECT_EQ(opentsdb_hash(hex("000001000001FFFFFF")), 691018974);
  EXPECT_EQ(opentsdb_hash(hex("FFFFFF000001000001")), -1019343266);
  EXPECT_EQ(opentsdb_hash(""), 1);
}

TEST(OpentsdbSalt, TheRemainderLosesItsSign) {
  EXPECT_EQ(opentsdb_salt(hex("000001000001000001"), 20), 8u);
  EXPECT_EQ(opentsdb_salt(hex("000001000001000002"), 20), 9u);
  EXPECT_EQ(opentsdb_salt(hex("000001000001FFFFFF"), 20), 14u);
  EXPECT_EQ(opentsdb_salt(hex("FFFFFF000001000001"), 20), 6u);
  EXPECT_EQ(opentsdb_salt(hex("FFFFFF000001000001"), 1), 0u);
  EXPECT_EQ(opentsdb_salt(hex("FFFFFF000001000001"), 2147483647u), 1019343266u);
}

// Rows carry it for ever: another hash would lose every series written before.
TEST(CyclicSalt, StaysWhatItIs) {
  EXPECT_EQ(cyclic_salt(hex("000001000001000001"), 16), 10u);
  EXPECT_EQ(cyclic_salt(hex("000001000001000002"), 16), 11u);
  EXPECT_EQ(cyclic_salt(hex("000001000001000001"), 256), 170u);
  EXPECT_EQ(cyclic_salt("", 7), 4u);
}

TEST(CyclicSalt, SpreadsNeighboursEvenly) {
  std::vector<int> series_in(16);
  for (std::uint32_t host = 0; host < 16'000; ++host) {
    Bytes tsuid = hex("000001000001");
    append_be_width(tsuid, host, 3);
    ++series_in.at(cyclic_salt(tsuid, 16));
  }
  for (const int count : series_in) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1150);
  }
}

}  // namespace
}  // namespace halite::storage
