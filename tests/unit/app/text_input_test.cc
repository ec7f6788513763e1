#include "app/bulk/text_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

constexpr std::size_t kMiB = 1 << 20;

std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// With a checksum, as the program `zstd` writes it.
std::string zstd(std::string_view text) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), text.data(), text.size());
  EXPECT_EQ(ZSTD_isError(size), 0U);
  packed.resize(size);
  return packed;
}

// Lines that do not compress to nothing.
std::string sample(std::size_t bytes) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < bytes; ++i) {
    text += std::to_string(i * 0x9E3779B97F4A7C15) + ((i % 7) == 0 ? "\n" : " ");
  }
  text.resize(bytes);
  return text;
}

Result<std::string> read_all(const std::string& path, std::size_t step = kMiB) {
  TRY(const auto input, TextInput::open(path));
  std::string all;
  std::string part(step, '\0');
  while (true) {
    TRY(const std::size_t got, input->read(part));
    if (got == 0) break;
    all.append(part, 0, got);
  }
  TRY(const std::size_t again, input->read(part));
  EXPECT_EQ(again, 0U);
  if (path != "-") EXPECT_EQ(input->bytes_read(), file_bytes(path));
  return all;
}

class TextInputTest : public ::testing::Test {
 protected:
  std::string file(std::string_view bytes) {
    std::string path = place_.path() + "/" + std::to_string(files_++);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  const test::TempDir place_;
  int files_ = 0;
};

TEST_F(TextInputTest, ReadsWhatIsThere) {
  for (const std::size_t size : {0UL, 1UL, 3UL, 4UL, 5UL, 3 * kMiB + 17}) {
    const std::string text = sample(size);
    EXPECT_EQ(read_all(file(text)).value(), text) << size;
    EXPECT_EQ(read_all(file(text), 7).value(), text) << size;
  }
}

// The unpacked text ends just where the reader's memory does, and near it.
TEST_F(TextInputTest, UnpacksTextsOfAnySize) {
  const std::string all = sample(kMiB + 12);
  for (std::size_t size = kMiB - 9; size <= all.size(); ++size) {
    const std::string_view text = std::string_view(all).substr(0, size);
    for (const std::string& packed : {gzip(text), zstd(text)}) {
      const auto read = read_all(file(packed));
      ASSERT_TRUE(read) << size << ": " << read.error().message;
      EXPECT_TRUE(*read == text) << size;
    }
  }
}

TEST_F(TextInputTest, UnpacksIntoLittleMemory) {
  const std::string text = sample(20'000);
  for (const std::size_t step : {1UL, 2UL, 13UL, 1000UL, 19'999UL, 20'000UL}) {
    EXPECT_TRUE(read_all(file(gzip(text)), step).value() == text) << step;
    EXPECT_TRUE(read_all(file(zstd(text)), step).value() == text) << step;
  }
}

TEST_F(TextInputTest, UnpacksAllMembersAndFrames) {
  std::string gz;
  std::string zst;
  std::string text;
  for (const std::size_t size : {5UL, 0UL, 2 * kMiB, 1UL, 777'777UL}) {
    const std::string part = sample(size);
    text += part;
    gz += gzip(part);
    zst += zstd(part);
  }
  EXPECT_TRUE(read_all(file(gz)).value() == text);
  EXPECT_TRUE(read_all(file(zst)).value() == text);
  EXPECT_EQ(read_all(file(gzip(""))).value(), "");
  EXPECT_EQ(read_all(file(zstd(""))).value(), "");
}

TEST_F(TextInputTest, NamesDataThatEndsEarly) {
  const std::string text = sample(300'000);
  for (const std::string& packed :
       {gzip(text), zstd(text), gzip(text) + gzip("x"), zstd(text) + zstd("x")}) {
    for (const std::size_t left :
         {5UL, 100UL, packed.size() / 2, packed.size() - 9, packed.size() - 5, packed.size() - 1}) {
      const std::string path = file(packed.substr(0, left));
      const auto read = read_all(path);
      ASSERT_FALSE(read) << left;
      EXPECT_EQ(read.error().code, Errc::kCorruption);
      EXPECT_TRUE(read.error().message.starts_with(path)) << read.error().message;
      EXPECT_TRUE(read.error().message.contains("ends early")) << read.error().message;
    }
  }
}

// What follows the packed data, as in a copy of a tape or of a disk.
TEST_F(TextInputTest, ReadsPackedDataThatSomethingFollows) {
  const std::string text = sample(300'000);
  for (const std::string& packed :
       {gzip(text), zstd(text), gzip(text) + gzip(""), zstd("") + zstd(text)}) {
    for (const std::string& behind :
         {std::string(), std::string(1, '\0'), std::string(3 * kMiB, '\0'), std::string("x"),
          std::string("\x1f-"), std::string("\0\0\0\0junk", 8), sample(2 * kMiB)}) {
      const std::string path = file(packed + behind);
      const auto read = read_all(path);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_TRUE(*read == text) << behind.size();
      const auto input = TextInput::open(path).value();
      std::string part(kMiB, '\0');
      while (input->read(part).value() > 0) {
      }
      const bool padding = behind.find_first_not_of('\0') == std::string::npos;
      EXPECT_EQ(input->ignored().empty(), padding) << behind.substr(0, 10);
    }
  }
  EXPECT_EQ(TextInput::open(file("a\n")).value()->ignored(), "");
}

TEST_F(TextInputTest, ReadsMembersBehindPadding) {
  for (const std::size_t zeros : {1UL, 512UL, 3 * kMiB}) {
    const std::string padding(zeros, '\0');
    for (const auto& pack : {gzip, zstd}) {
      const std::string path = file(pack("a\n") + padding + pack("b\n") + padding);
      EXPECT_EQ(read_all(path).value(), "a\nb\n") << zeros;
      const auto input =
          TextInput::open(file(pack("a\n") + padding + "junk" + pack("b\n"))).value();
      std::string part(kMiB, '\0');
      EXPECT_EQ(input->read(part).value(), 2U);
      EXPECT_EQ(input->read(part).value(), 0U);
      EXPECT_NE(input->ignored(), "");
    }
  }
}

// As the program `pzstd` writes them.
TEST_F(TextInputTest, SkipsFramesThatHoldNoText) {
  const std::string skipped("\x50\x2a\x4d\x18\x04\0\0\0text", 12);
  const auto read = read_all(file(skipped + zstd("a\n") + skipped + zstd("b\n") + skipped));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, "a\nb\n");
}

TEST_F(TextInputTest, NamesDamagedData) {
  const std::string text = sample(300'000);
  for (std::string packed : {gzip(text), zstd(text) + zstd(text)}) {
    for (std::size_t i = 0; i < 50; ++i) packed[packed.size() / 3 + i] ^= 0x55;
    const auto read = read_all(file(packed));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::kCorruption);
    EXPECT_TRUE(read.error().message.contains("damaged")) << read.error().message;
  }
  std::string sum = gzip(text);
  sum[sum.size() - 8] ^= 1;  // of the checksum
  EXPECT_EQ(read_all(file(sum)).error().code, Errc::kCorruption);
}

TEST_F(TextInputTest, TellsTruncatedFromDamagedData) {
  const std::string text = sample(300'000);
  for (std::string packed : {gzip(text), zstd(text) + zstd(text)}) {
    const auto truncated = [&](std::string_view bytes) {
      const auto input = TextInput::open(file(bytes)).value();
      std::string part(1000, '\0');
      while (input->read(part).value_or(0) > 0) {
      }
      return input->truncated();
    };
    EXPECT_TRUE(truncated(std::string_view(packed).substr(0, packed.size() - 9)));
    for (std::size_t i = 0; i < 50; ++i) packed[packed.size() / 3 + i] ^= 0x55;
    EXPECT_FALSE(truncated(packed));
  }
}

TEST_F(TextInputTest, SaysWhyAFileCannotBeRead) {
  const auto missing = TextInput::open(place_.path() + "/none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
  EXPECT_TRUE(missing.error().message.contains("/none")) << missing.error().message;
  const auto folder = TextInput::open(place_.path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Errc::kUnavailable);
}

// A pipe gives what there is, down to single bytes.
TEST_F(TextInputTest, ReadsPipes) {
  const std::string text = sample(5000);
  for (const std::string& bytes : {text, gzip(text) + gzip(text), zstd(text) + zstd(text)}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    std::thread writer([&] {
      for (const char byte : bytes) EXPECT_EQ(::write(ends[1], &byte, 1), 1);
      ::close(ends[1]);
    });
    const auto input = TextInput::open("/proc/self/fd/" + std::to_string(ends[0])).value();
    ::close(ends[0]);
    std::string all;
    std::string part(1000, '\0');
    while (const std::size_t got = input->read(part).value()) all.append(part, 0, got);
    writer.join();
    EXPECT_TRUE(all == text || all == text + text) << all.size();
  }
}

TEST(FileModified, IsInRange) {
  const test::TempDir place;
  const std::string path = place.path() + "/a";
  std::ofstream(path) << "abc";
  for (const std::int64_t seconds : {-1LL, 0LL, 1'700'000'000LL, 10'000'000'000LL}) {
    const timespec time{.tv_sec = seconds, .tv_nsec = 5};
    const std::array<timespec, 2> times = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    if (status.st_mtim.tv_sec != seconds) continue;  // the file system has no such times
    const bool known = seconds >= 0 && seconds < 9'000'000'000;
    EXPECT_EQ(file_modified_ns(path),
              known ? static_cast<std::uint64_t>(seconds) * 1'000'000'000 + 5 : 0);
  }
}

TEST(FileBytes, CountsRegularFilesOnly) {
  const test::TempDir place;
  std::ofstream(place.path() + "/a") << "abc";
  EXPECT_EQ(file_bytes(place.path() + "/a"), 3U);
  EXPECT_EQ(file_bytes(place.path()), 0U);
  EXPECT_EQ(file_bytes("/dev/zero"), 0U);
  EXPECT_EQ(file_bytes(place.path() + "/none"), 0U);
}

}  // namespace
}  // namespace halite::app
