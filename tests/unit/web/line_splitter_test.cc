#include "web/telnet/line_splitter.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

// Everything the splitter says about a text that comes in steps of `step` bytes. "!" marks a line
// that was too long.
std::vector<std::string> split(LineSplitter& splitter, std::string_view text, std::size_t step) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::span<char> space = splitter.space();
    const std::size_t count = std::min({space.size(), step, text.size()});
    std::memcpy(space.data(), text.data(), count);
    splitter.filled(count);
    text.remove_prefix(count);
    std::string_view line;
    while (true) {
      const LineSplitter::Found found = splitter.next(line);
      if (found == LineSplitter::Found::kNothing) break;
      lines.push_back((found == LineSplitter::Found::kTooLong ? "!" : "") + std::string(line));
    }
  }
  return lines;
}

std::vector<std::string> split(std::string_view text, std::size_t step = SIZE_MAX,
                               std::size_t line_bytes_max = 10) {
  LineSplitter splitter(line_bytes_max, 64);
  return split(splitter, text, step);
}

using Lines = std::vector<std::string>;

TEST(LineSplitter, EndsOfLines) {
  for (const std::size_t step : {SIZE_MAX, std::size_t{3}, std::size_t{1}}) {
    EXPECT_EQ(split("a\nbc\r\n\n\r\nd e\n", step), (Lines{"a", "bc", "", "", "d e"})) << step;
    EXPECT_EQ(split("a\rb\n", step), (Lines{"a\rb"})) << step;
  }
}

TEST(LineSplitter, WhatHasNoEndIsNoLine) {
  LineSplitter splitter(10, 64);
  EXPECT_EQ(split(splitter, "a\nbc", SIZE_MAX), (Lines{"a"}));
  EXPECT_EQ(splitter.unfinished(), 2u);
  EXPECT_EQ(split(splitter, "d\n", SIZE_MAX), (Lines{"bcd"}));
  EXPECT_EQ(splitter.unfinished(), 0u);
}

TEST(LineSplitter, TheMaximumAndOneMore) {
  for (const std::size_t step : {SIZE_MAX, std::size_t{4}, std::size_t{1}}) {
    EXPECT_EQ(split("0123456789\nx\n", step), (Lines{"0123456789", "x"})) << step;
    EXPECT_EQ(split("0123456789\r\nx\n", step), (Lines{"0123456789", "x"})) << step;
    const Lines over = split("0123456789a\nx\n", step);
    ASSERT_EQ(over.size(), 2u) << step;
    EXPECT_TRUE(over[0].starts_with("!0123456789")) << step;
    EXPECT_EQ(over[1], "x") << step;
  }
}

TEST(LineSplitter, LongLinesDoNotHurtTheirNeighbours) {
  const std::string text =
      "a\n" + std::string(1'000, 'x') + "\nb\n" + std::string(500, 'y') + "\r\nc\n";
  for (const std::size_t step : {SIZE_MAX, std::size_t{64}, std::size_t{7}, std::size_t{1}}) {
    const Lines lines = split(text, step);
    ASSERT_EQ(lines.size(), 5u) << step;
    EXPECT_EQ(lines[0], "a");
    EXPECT_TRUE(lines[1].starts_with("!xxxxxxxxxxx"));
    EXPECT_LE(lines[1].size(), 65u);
    EXPECT_EQ(lines[2], "b");
    EXPECT_TRUE(lines[3].starts_with("!yyy"));
    EXPECT_EQ(lines[4], "c");
  }
}

TEST(LineSplitter, AnEndlessLineTakesNoMemory) {
  LineSplitter splitter(10, 64);
  EXPECT_EQ(split(splitter, std::string(1'000'000, 'x'), SIZE_MAX).size(), 1u);
  EXPECT_LE(splitter.unfinished(), 1u);
  EXPECT_EQ(split(splitter, "x\nok\n", SIZE_MAX), (Lines{"ok"}));
}

TEST(LineSplitter, ReadsGrowWhileTheyAreFilled) {
  LineSplitter splitter(1 << 20, 256 << 10);
  const std::size_t first = splitter.space().size();
  split(splitter, std::string(508 << 10, 'x'), SIZE_MAX);  // 4 + 8 + .. + 256 KiB
  EXPECT_EQ(splitter.space().size(), 256u << 10);
  for (int i = 0; i < 20; ++i) split(splitter, "\n", SIZE_MAX);
  EXPECT_EQ(splitter.space().size(), first);
}

TEST(LineSplitter, MemoryIsGivenBackBetweenLines) {
  LineSplitter splitter(10, 64);
  split(splitter, "ab\ncd", SIZE_MAX);
  EXPECT_FALSE(splitter.release_if_idle());  // "cd" has not ended
  EXPECT_EQ(split(splitter, "\n", SIZE_MAX), (Lines{"cd"}));
  EXPECT_TRUE(splitter.release_if_idle());
  EXPECT_EQ(split(splitter, "ef\n", SIZE_MAX), (Lines{"ef"}));
  split(splitter, std::string(10, 'x'), SIZE_MAX);
  split(splitter, std::string(63, 'x') + "\n", SIZE_MAX);
  EXPECT_FALSE(splitter.release_if_idle());  // a full read: more is there already
}

TEST(LineSplitter, AnySplitGivesTheSameLines) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const int length = static_cast<int>(random() % 200);
    for (int i = 0; i < length; ++i) text += "ab\r\n "[random() % 5];
    text += '\n';
    EXPECT_EQ(split(text, 1, 6).size(), split(text, SIZE_MAX, 6).size());
    EXPECT_EQ(split(text, 1 + random() % 9, 200), split(text, SIZE_MAX, 200));
  }
}

}  // namespace
}  // namespace halite::web
