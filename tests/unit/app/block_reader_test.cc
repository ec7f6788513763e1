#include "app/bulk/block_reader.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <zstd.h>

#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

class BlockReaderTest : public ::testing::Test {
 protected:
  std::string file(std::string_view bytes) {
    std::string path = place_.path() + "/" + std::to_string(files_++);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  const test::TempDir place_;
  int files_ = 0;
};

std::vector<TextBlock> blocks_of(BlockReader& reader) {
  std::vector<TextBlock> blocks;
  std::string buffer;
  while (true) {
    auto block = reader.next(std::move(buffer));
    EXPECT_TRUE(block) << block.error().message;
    if (!block || !*block) return blocks;
    buffer = (*block)->text;  // what it contains must not matter
    blocks.push_back(*std::move(*block));
  }
}

std::vector<TextBlock> blocks_of(std::vector<std::string> files, InputPosition from = {},
                                 HeaderRule header_rule = {}) {
  auto reader = BlockReader::open(std::move(files), from, std::move(header_rule));
  EXPECT_TRUE(reader) << reader.error().message;
  return blocks_of(**reader);
}

std::string text_of(const std::vector<TextBlock>& blocks, std::size_t file = 0) {
  std::string text;
  for (const TextBlock& block : blocks) {
    if (block.begin.file == file) text += block.text;
  }
  return text;
}

std::string lines(std::size_t bytes, std::size_t line_bytes = 100) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) {
    std::string line = "line " + std::to_string(i);
    line.resize(line_bytes - 1, '.');
    text += line + "\n";
  }
  return text;
}

// The last line that begins with "header".
std::string last_header(std::string_view header, std::string_view lines) {
  for (; !lines.empty(); lines.remove_prefix(std::min(lines.find('\n'), lines.size() - 1) + 1)) {
    if (lines.starts_with("header")) header = lines.substr(0, lines.find('\n'));
  }
  return std::string(header);
}

std::string zstd_frame(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

void expect_in_order(const std::vector<TextBlock>& blocks) {
  InputPosition at;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const TextBlock& block = blocks[i];
    EXPECT_EQ(block.number, i);
    EXPECT_FALSE(block.too_long);
    if (block.begin.file != at.file) at = {.file = block.begin.file};
    EXPECT_EQ(block.begin, at);
    at.offset += block.text.size();
    EXPECT_EQ(block.end, at);
    const bool last = i + 1 == blocks.size() || blocks[i + 1].begin.file != block.begin.file;
    EXPECT_EQ(block.ends, last) << i;
    if (!last) EXPECT_TRUE(block.text.ends_with('\n')) << i;
    EXPECT_LE(block.text.size(), 2 * kBlockBytes);
  }
}

TEST_F(BlockReaderTest, CutsBetweenLines) {
  for (const std::size_t line : {2UL, 100UL, 4096UL, 300'001UL}) {
    // Also sizes at which a read ends with a line.
    for (const std::size_t size :
         {line, kBlockBytes, kBlockBytes + line, 2 * kBlockBytes, 5 * kBlockBytes + 77}) {
      const std::string text = lines(size, line < 20 ? 20 : line);
      const auto blocks = blocks_of({file(text)});
      EXPECT_TRUE(text_of(blocks) == text);
      expect_in_order(blocks);
      EXPECT_GE(blocks.size(), text.size() / (2 * kBlockBytes));
    }
  }
  const std::string feeds(3 * kBlockBytes, '\n');
  const auto blocks = blocks_of({file(feeds)});
  EXPECT_TRUE(text_of(blocks) == feeds);
  expect_in_order(blocks);
}

TEST_F(BlockReaderTest, TakesALastLineWithoutLineFeed) {
  EXPECT_EQ(text_of(blocks_of({file("a 1\nb 2")})), "a 1\nb 2");
  EXPECT_EQ(text_of(blocks_of({file("a 1")})), "a 1");
  const std::string text = lines(3 * kBlockBytes) + "the last";
  const auto blocks = blocks_of({file(text)});
  EXPECT_TRUE(text_of(blocks) == text);
  expect_in_order(blocks);
}

TEST_F(BlockReaderTest, ReadsFilesInOrderAndSkipsEmptyOnes) {
  const auto blocks = blocks_of({file(""), file("a\nb"), file(""), file("c\n"), file("")});
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].text, "a\nb");  // its last line does not run on into the next file
  EXPECT_EQ(blocks[0].begin, (InputPosition{.file = 1, .offset = 0}));
  EXPECT_EQ(blocks[1].text, "c\n");
  EXPECT_EQ(blocks[1].begin, (InputPosition{.file = 3, .offset = 0}));
  EXPECT_EQ(blocks[1].number, 1U);
  EXPECT_TRUE(blocks_of(std::vector{file(""), file("")}).empty());
  EXPECT_TRUE(blocks_of(std::vector<std::string>()).empty());
}

TEST_F(BlockReaderTest, GivesBlocksTheHeaderBeforeThem) {
  const std::vector<std::string> files = {
      file("a title\nheader A\n" + lines(3 * kBlockBytes) + "header B\n" + lines(3 * kBlockBytes)),
      file("header C\n" + lines(200))};
  const auto blocks = blocks_of(files, {}, last_header);
  ASSERT_GT(blocks.size(), 4U);
  std::string header;
  for (const TextBlock& block : blocks) {
    if (block.begin.offset == 0) header.clear();
    EXPECT_EQ(block.header, header);
    header = last_header(header, block.text);
  }
  EXPECT_EQ(blocks[1].header, "header A");
  EXPECT_EQ(blocks[blocks.size() - 2].header, "header B");
  EXPECT_EQ(blocks_of(files)[1].header, "");
  auto reader = BlockReader::open(files).value();
  ASSERT_TRUE(reader->peek());
  reader->follow(last_header);
  EXPECT_EQ(blocks_of(*reader)[1].header, "header A");
}

TEST_F(BlockReaderTest, ResumesAtEveryBlock) {
  const std::vector<std::string> files = {
      file("header A\n" + lines(3 * kBlockBytes)), file(""),
      file("header B\n" + lines(3 * kBlockBytes) + "header C\n" + lines(kBlockBytes) + "end")};
  const auto all = blocks_of(files, {}, last_header);
  for (std::size_t done = 0; done < all.size(); ++done) {
    const auto rest = blocks_of(files, all[done].end, last_header);
    ASSERT_EQ(rest.size(), all.size() - done - 1) << done;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const TextBlock& expected = all[done + 1 + i];
      EXPECT_TRUE(rest[i].text == expected.text);
      EXPECT_EQ(rest[i].begin, expected.begin);
      EXPECT_EQ(rest[i].end, expected.end);
      EXPECT_EQ(rest[i].ends, expected.ends);
      EXPECT_EQ(rest[i].header, expected.header);
    }
  }
}

TEST_F(BlockReaderTest, ResumesBehindLinesOfManyReads) {
  const std::string header = "header " + std::string(3 * kBlockBytes, 'h');
  const std::string too_long(kLineBytesMax + 3 * kBlockBytes, 'y');
  const std::string path = file(header + "\n" + too_long + "\n" + lines(3 * kBlockBytes));
  const auto all = blocks_of({path}, {}, last_header);
  ASSERT_GT(all.size(), 3U);
  const auto rest = blocks_of({path}, all[2].end, last_header);
  ASSERT_FALSE(rest.empty());
  EXPECT_TRUE(rest[0].header == header);
  EXPECT_TRUE(rest[0].text == all[3].text);
}

TEST_F(BlockReaderTest, DoesNotResumeInAShorterFile) {
  const auto reader = BlockReader::open({file("a 1\n")}, {.file = 0, .offset = 5});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(reader.error().message.contains("shorter")) << reader.error().message;
}

// Lines before, between and behind are not touched.
TEST_F(BlockReaderTest, DropsLinesThatAreTooLong) {
  const std::string longest(kLineBytesMax - 1, 'x');
  const std::string too_long(kLineBytesMax + 2 * kBlockBytes, 'y');
  const std::string path =
      file("a\n" + too_long + "\nb\nc\n" + too_long + "\nd\n" + longest + "\ne\n" + too_long);
  const auto blocks = blocks_of({path});
  std::string text;
  std::uint64_t offset = 0;
  int dropped = 0;
  for (const TextBlock& block : blocks) {
    EXPECT_EQ(block.begin.offset, offset);
    offset = block.end.offset;
    if (block.too_long) {
      ++dropped;
      EXPECT_EQ(block.text.substr(0, 3), "yyy");
      EXPECT_LE(block.text.size(), kBlockBytes);
    } else {
      text += block.text;
    }
  }
  EXPECT_EQ(offset, file_bytes(path));
  EXPECT_EQ(dropped, 3);
  EXPECT_TRUE(text == "a\nb\nc\nd\n" + longest + "\ne\n") << text.size();
}

TEST_F(BlockReaderTest, PeeksWithoutTaking) {
  const std::string text = lines(2 * kBlockBytes);
  auto reader = BlockReader::open({file(text)}).value();
  const std::string peeked(reader->peek().value().text);
  EXPECT_TRUE(peeked.contains('\n'));
  EXPECT_TRUE(text.starts_with(peeked));
  const auto blocks = blocks_of(*reader);
  EXPECT_TRUE(text_of(blocks) == text);
  expect_in_order(blocks);
  EXPECT_EQ(BlockReader::open({file("")}).value()->peek().value().text, "");
  EXPECT_EQ(BlockReader::open({}).value()->peek().value().text, "");
}

// Also one that holds a byte order mark alone, or only what is ignored: its block still comes.
TEST_F(BlockReaderTest, PeeksBehindFilesWithoutText) {
  const std::string good = file("a\nb\n");
  auto reader =
      BlockReader::open({file("\xEF\xBB\xBF"), file(zstd_frame("") + "junk"), good}).value();
  const auto peeked = reader->peek();
  ASSERT_TRUE(peeked) << peeked.error().message;
  EXPECT_EQ(peeked->text, "a\nb\n");
  EXPECT_EQ(peeked->file, good);
  EXPECT_EQ(reader->peek().value().text, "a\nb\n");
  const auto blocks = blocks_of(*reader);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].number, 0U);
  EXPECT_NE(blocks[0].ignored, "");
  EXPECT_EQ(blocks[0].begin, (InputPosition{.file = 1, .offset = 0}));
  EXPECT_EQ(blocks[0].end, (InputPosition{.file = 2, .offset = 0}));
  EXPECT_EQ(blocks[1].number, 1U);
  EXPECT_EQ(blocks[1].text, "a\nb\n");
}

TEST_F(BlockReaderTest, PeeksAtTheLinesBeforeAnError) {
  const std::string packed = zstd_frame(lines(kBlockBytes / 2)) + zstd_frame("b");
  auto reader = BlockReader::open({file(packed.substr(0, packed.size() - 1))}).value();
  const auto peeked = reader->peek();
  ASSERT_TRUE(peeked) << peeked.error().message;
  EXPECT_TRUE(peeked->text.starts_with("line 0"));
  EXPECT_TRUE(reader->next().value()->text.starts_with("line 0"));
  EXPECT_FALSE(reader->next());
}

TEST_F(BlockReaderTest, FindsWhatCannotBeReadBeforeItBegins) {
  const auto missing = BlockReader::open({file("a\n"), place_.path() + "/none"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
  EXPECT_TRUE(missing.error().message.contains("/none")) << missing.error().message;
  const auto folder = BlockReader::open({file("a\n"), place_.path()});
  ASSERT_FALSE(folder);
  EXPECT_TRUE(folder.error().message.contains("directory")) << folder.error().message;
}

TEST_F(BlockReaderTest, StaysFailed) {
  const std::string path = file(std::string("\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff", 13));
  auto reader = BlockReader::open({file("a\n"), path}).value();
  EXPECT_EQ(reader->next().value()->text, "a\n");
  const auto failed = reader->next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kCorruption);
  EXPECT_EQ(reader->next().error().message, failed.error().message);
  EXPECT_EQ(reader->blocks(), 1U);
  EXPECT_EQ(reader->fault(failed.error()), InputFault::kDamaged);
}

// The line does not count as a block, or an import would wait for it forever.
TEST_F(BlockReaderTest, FailsWithinALineThatIsTooLong) {
  const std::string packed = zstd_frame(std::string(kLineBytesMax + 16 * kBlockBytes, 'x'));
  auto reader = BlockReader::open({file(packed.substr(0, packed.size() - 10))}).value();
  const auto failed = reader->next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kCorruption);
  EXPECT_EQ(reader->blocks(), 0U);
}

TEST_F(BlockReaderTest, GivesTheWholeLinesBeforeATruncatedEnd) {
  const std::string text = lines(3 * kBlockBytes);
  const std::string packed = zstd_frame(text);
  auto reader =
      BlockReader::open({file(packed.substr(0, packed.size() - 10)), file("b\n")}).value();
  std::string read;
  auto block = reader->next();
  for (; block && *block; block = reader->next()) read += (*block)->text;
  ASSERT_FALSE(block);
  EXPECT_TRUE(block.error().message.contains("truncated")) << block.error().message;
  EXPECT_EQ(reader->fault(block.error()), InputFault::kTruncated);
  EXPECT_EQ(reader->fault({.code = Errc::kInvalidArgument, .message = "401", .details = {}}),
            InputFault::kNone);
  EXPECT_TRUE(text.starts_with(read));
  EXPECT_TRUE(read.ends_with('\n'));
  EXPECT_GT(read.size(), 2 * kBlockBytes);
}

TEST_F(BlockReaderTest, SaysThatSomethingFollowsPackedData) {
  const auto blocks =
      blocks_of({file(zstd_frame("a\n") + "junk"), file(zstd_frame("b\n") + std::string(9, '\0')),
                 file(zstd_frame("") + "junk"), file("c\n")});
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_EQ(blocks[0].text, "a\n");
  EXPECT_NE(blocks[0].ignored, "");
  EXPECT_EQ(blocks[1].text, "b\n");
  EXPECT_EQ(blocks[1].ignored, "");
  EXPECT_EQ(blocks[2].text, "");
  EXPECT_NE(blocks[2].ignored, "");
  EXPECT_EQ(blocks[2].end, (InputPosition{.file = 3, .offset = 0}));
  EXPECT_EQ(blocks[3].text, "c\n");
}

// Where the reader cannot know that the line which it drops is the last one.
TEST_F(BlockReaderTest, SaysThatSomethingFollowsALineThatIsTooLong) {
  const std::string path = file(zstd_frame(std::string(kLineBytesMax, 'x') + "\n") + "junk");
  const auto blocks = blocks_of({path, file("c\n")});
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_TRUE(blocks[0].too_long);
  EXPECT_EQ(blocks[0].ignored, "");
  EXPECT_EQ(blocks[1].text, "");
  EXPECT_NE(blocks[1].ignored, "");
  EXPECT_EQ(blocks[1].end, (InputPosition{.file = 1, .offset = 0}));
  EXPECT_EQ(blocks[2].text, "c\n");
}

// Once, also where an import resumes at the end of the file.
TEST_F(BlockReaderTest, SaysOnceThatSomethingFollows) {
  const std::vector<std::string> files = {file(zstd_frame("a\n") + "junk"), file("c\n")};
  const auto blocks = blocks_of(files, {.file = 0, .offset = 2});
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].text, "c\n");
  EXPECT_EQ(blocks[0].ignored, "");
}

TEST_F(BlockReaderTest, SkipsAByteOrderMark) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string text = "header\n" + lines(2 * kBlockBytes) + mark + "last\n";
  const std::string path = file(mark + text);
  auto reader = BlockReader::open({path}).value();
  EXPECT_TRUE(reader->peek().value().text.starts_with("header\n"));
  reader->follow(last_header);
  const auto blocks = blocks_of(*reader);
  EXPECT_TRUE(text_of(blocks) == text);
  EXPECT_EQ(blocks.back().end.offset, file_bytes(path));
  EXPECT_EQ(blocks.back().header, "header");
  const auto rest = blocks_of({path}, blocks[0].end, last_header);
  ASSERT_FALSE(rest.empty());
  EXPECT_EQ(rest[0].header, "header");
  EXPECT_TRUE(blocks[0].text + text_of(rest) == text);
  EXPECT_EQ(text_of(blocks_of({file(mark)})), "");
  EXPECT_EQ(text_of(blocks_of({file(mark + "a\n")})), "a\n");
}

TEST_F(BlockReaderTest, CountsBytes) {
  const std::string text = lines(3 * kBlockBytes);
  auto reader = BlockReader::open({file(text), file(text)}).value();
  EXPECT_EQ(reader->bytes_total(), 2 * text.size());
  EXPECT_EQ(reader->bytes_read(), 0U);
  const auto blocks = blocks_of(*reader);
  EXPECT_EQ(reader->bytes_read(), 2 * text.size());
  auto later = BlockReader::open(reader->files(), {.file = 1, .offset = 0}).value();
  EXPECT_EQ(later->bytes_read(), text.size());
}

}  // namespace
}  // namespace halite::app
