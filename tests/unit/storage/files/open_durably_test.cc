#include "storage/files/open_durably.h"

#include <gtest/gtest.h>

#include "tests/support/faulty_files.h"

namespace halite::storage {
namespace {

TEST(OpenDurably, TheFileIsThereAfterAPowerCut) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    test::FaultyFiles files(seed);
    {
      const auto file = open_durably(files, "/f", OpenFile::kCreate).value();
      ASSERT_TRUE(file->append("x"));
      ASSERT_TRUE(file->datasync());
    }
    files.crash();
    const auto text = read_whole(files, "/f", 1);
    ASSERT_TRUE(text) << seed << ": " << text.error().message;
    EXPECT_EQ(*text, "x");
  }
}

TEST(OpenDurably, SaysWhyNot) {
  test::FaultyFiles files(1);
  EXPECT_EQ(open_durably(files, "/f", OpenFile::kWrite).error().code, Errc::kNotFound);
  ASSERT_TRUE(open_durably(files, "/f", OpenFile::kCreate));
  EXPECT_EQ(open_durably(files, "/f", OpenFile::kCreate).error().code, Errc::kConflict);
}

}  // namespace
}  // namespace halite::storage
