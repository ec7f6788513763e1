#include "app/bulk/refused_lines.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

class RefusedLinesTest : public ::testing::Test {
 protected:
  std::unique_ptr<RefusedLines> open(std::uint64_t keep = 0) {
    return RefusedLines::open(path_, keep, print_).value();
  }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const test::TempDir place_;
  const std::string path_ = place_.path() + "/errors";
  std::vector<std::string> shown_;
  const Print print_ = [this](std::string_view line) { shown_.emplace_back(line); };
};

TEST_F(RefusedLinesTest, WritesWhereWhyAndWhat) {
  const auto lines = open();
  ASSERT_TRUE(lines->add("a\tfile", 7, "two\nlines", "m\t1 x\r"));
  EXPECT_EQ(lines->sync().value(), text().size());
  EXPECT_EQ(text(), "a file\t7\ttwo lines\tm 1 x \n");
  ASSERT_EQ(shown_.size(), 1U);
  EXPECT_EQ(shown_[0], "a file:7: two lines");
}

// OpenTSDB may name half a character. The bytes of the refused line do not change.
TEST_F(RefusedLinesTest, SaysWhyInUtf8) {
  const auto lines = open();
  ASSERT_TRUE(lines->add("f", 1, "illegal character: \xED\xA0\xBD", "m\xE9 1 2 a=b"));
  ASSERT_TRUE(lines->add("f", 2, std::string(1022, 'x') + "\xE2\x82\xAC", ""));
  ASSERT_TRUE(lines->sync());
  EXPECT_TRUE(text().starts_with("f\t1\tillegal character: \uFFFD\tm\xE9 1 2 a=b\nf\t2\tx"));
  EXPECT_TRUE(text().ends_with("x\t\n"));
  ASSERT_EQ(shown_.size(), 2U);
  EXPECT_EQ(shown_[0], "f:1: illegal character: \uFFFD");
}

TEST_F(RefusedLinesTest, KeepsWholeLinesAndShowsTheFirst) {
  const auto lines = open();
  const std::string line(5000, 'x');
  for (std::uint64_t i = 1; i <= 500; ++i) ASSERT_TRUE(lines->add("f", i, "why", line));
  EXPECT_EQ(lines->sync().value(), text().size());
  EXPECT_TRUE(text().starts_with("f\t1\twhy\t" + line + "\nf\t2"));
  EXPECT_EQ(std::ranges::count(text(), '\n'), 500);
  ASSERT_EQ(shown_.size(), 10U);
  EXPECT_FALSE(shown_[8].contains("not shown"));
  EXPECT_TRUE(shown_[9].contains("further refused lines are not shown"));
}

TEST_F(RefusedLinesTest, ResumesBehindTheCheckpoint) {
  std::uint64_t kept = 0;
  {
    const auto lines = open();
    ASSERT_TRUE(lines->add("f", 1, "why", "one"));
    kept = lines->sync().value();
    ASSERT_TRUE(lines->add("f", 2, "why", "two"));
    ASSERT_TRUE(lines->sync());
  }
  const auto lines = open(kept);
  ASSERT_TRUE(lines->add("f", 2, "why", "again"));
  ASSERT_TRUE(lines->sync());
  EXPECT_EQ(text(), "f\t1\twhy\tone\nf\t2\twhy\tagain\n");
}

TEST_F(RefusedLinesTest, ReplacesAnOlderFile) {
  std::ofstream(path_) << "of another import\n";
  ASSERT_TRUE(open()->sync());
  EXPECT_EQ(text(), "");
}

TEST_F(RefusedLinesTest, LeavesTheFileOfSomeoneElse) {
  std::ofstream(path_) << "precious";
  const auto lines = RefusedLines::open(path_, std::nullopt, print_);
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, Errc::kConflict);
  EXPECT_EQ(text(), "precious");
  const auto device = RefusedLines::open("/dev/null", std::nullopt, print_);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, Errc::kConflict);
}

TEST_F(RefusedLinesTest, TakesAnEmptyFile) {
  std::ofstream(path_) << "";
  const auto lines = RefusedLines::open(path_, std::nullopt, print_);
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_TRUE((*lines)->add("f", 1, "why", "one"));
  ASSERT_TRUE((*lines)->sync());
  EXPECT_EQ(text(), "f\t1\twhy\tone\n");
}

TEST_F(RefusedLinesTest, IsOfOneAtATime) {
  const auto first = open();
  const auto second = RefusedLines::open(path_, std::nullopt, print_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kConflict);
  EXPECT_TRUE(second.error().message.contains("another import or export writes it"));
}

TEST_F(RefusedLinesTest, DoesNotResumeInAShorterFile) {
  std::ofstream(path_) << "short";
  const auto lines = RefusedLines::open(path_, 6, print_);
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, Errc::kConflict);
  EXPECT_FALSE(RefusedLines::open(place_.path() + "/none", 6, print_));
}

TEST_F(RefusedLinesTest, NeedsNoFile) {
  const auto lines = RefusedLines::open("", 0, print_).value();
  ASSERT_TRUE(lines->add("-", 1, "why", "x"));
  EXPECT_EQ(lines->sync().value(), 0U);
  EXPECT_EQ(shown_.size(), 1U);
}

}  // namespace
}  // namespace halite::app
