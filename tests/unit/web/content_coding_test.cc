#include "web/http/content_coding.h"

#include <cstdint>

#include <gtest/gtest.h>
#include <snappy.h>
#include <zstd.h>

namespace halite::web {
namespace {

std::string packed(std::string_view text, Coding coding, int level = 6) {
  Deflater deflater(coding, level);
  std::string out;
  // In two pieces, as a stream comes.
  deflater.add(text.substr(0, text.size() / 2), out);
  deflater.add(text.substr(text.size() / 2), out);
  deflater.finish(out);
  return out;
}

// A zlib stream without its frame, as some clients send for "deflate".
std::string raw_deflate(std::string_view text) {
  const std::string framed = packed(text, Coding::kDeflate);
  return framed.substr(2, framed.size() - 6);
}

TEST(ContentCoding, BothWaysAtEveryLevel) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919) + ",";
  for (const Coding coding : {Coding::kGzip, Coding::kDeflate}) {
    for (int level = 1; level <= 9; ++level) {
      const std::string small = packed(text, coding, level);
      EXPECT_LT(small.size(), text.size() / 2);
      const Result<std::string> back = inflate_body(small, coding, text.size());
      ASSERT_TRUE(back) << level << ": " << back.error().message;
      EXPECT_EQ(*back, text);
    }
  }
  const Result<std::string> raw = inflate_body(raw_deflate(text), Coding::kDeflate, text.size());
  ASSERT_TRUE(raw) << raw.error().details;
  EXPECT_EQ(*raw, text);
}

TEST(ContentCoding, WhatDoesNotGetSmallerAndPiecesOfAnySize) {
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 1664525 + 1013904223;
    noise += static_cast<char>(state >> 24);
  }
  for (const int level : {1, 6}) {
    for (const std::size_t step : {1UL, 1000UL, 65'536UL, 300'000UL}) {
      const std::string_view text = std::string_view(noise).substr(0, 2000 * step);
      Deflater deflater(Coding::kGzip, level);
      std::string out;
      for (std::size_t at = 0; at < text.size(); at += step) {
        deflater.add(text.substr(at, step), out);
        deflater.add("", out);
      }
      deflater.finish(out);
      const Result<std::string> back = inflate_body(out, Coding::kGzip, text.size());
      ASSERT_TRUE(back) << level << " " << step << ": " << back.error().message;
      EXPECT_TRUE(*back == text) << level << " " << step;
    }
  }
}

TEST(ContentCoding, EmptyBodies) {
  EXPECT_EQ(*inflate_body("", Coding::kGzip, 0), "");
  for (const int level : {1, 6}) {
    EXPECT_EQ(*inflate_body(packed("", Coding::kGzip, level), Coding::kGzip, 0), "");
    EXPECT_EQ(*inflate_body(packed("", Coding::kDeflate, level), Coding::kDeflate, 0), "");
  }
  EXPECT_EQ(*inflate_body("as it is", Coding::kIdentity, 0), "as it is");
}

TEST(ContentCoding, TheMaximumAndOneByteMore) {
  const std::string text(1'000'000, 'x');
  const std::string body = packed(text, Coding::kGzip);
  EXPECT_TRUE(inflate_body(body, Coding::kGzip, 1'000'000));
  const Result<std::string> over = inflate_body(body, Coding::kGzip, 999'999);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::kTooLarge);
  EXPECT_NE(over.error().message.find("web.body_inflated_bytes_max"), std::string::npos);
}

TEST(ContentCoding, SeveralGzipFilesInARow) {
  const std::string body = packed("one ", Coding::kGzip) + packed("two", Coding::kGzip);
  EXPECT_EQ(*inflate_body(body, Coding::kGzip, 100), "one two");
}

TEST(ContentCoding, DamagedAndCut) {
  std::string body = packed("some text that is long enough to be packed", Coding::kGzip);
  EXPECT_EQ(inflate_body(body.substr(0, body.size() - 9), Coding::kGzip, 100).error().code,
            Errc::kInvalidArgument);
  body[body.size() / 2] ^= 0x55;
  EXPECT_EQ(inflate_body(body, Coding::kGzip, 100).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(inflate_body("{\"plain\":1}", Coding::kGzip, 100).error().code, Errc::kInvalidArgument);
}

TEST(ContentCoding, ContentEncoding) {
  EXPECT_EQ(*parse_content_encoding("", false), Coding::kIdentity);
  EXPECT_EQ(*parse_content_encoding(" GZIP ", false), Coding::kGzip);
  EXPECT_EQ(*parse_content_encoding("x-gzip", false), Coding::kGzip);
  EXPECT_EQ(*parse_content_encoding("deflate", false), Coding::kDeflate);
  EXPECT_EQ(parse_content_encoding("br", false).error().code, Errc::kUnsupported);
  EXPECT_EQ(parse_content_encoding("zstd", false), Coding::kZstd);
  EXPECT_EQ(parse_content_encoding("snappy", false).error().code, Errc::kUnsupported);
  EXPECT_EQ(parse_content_encoding("", true), Coding::kSnappy);
  EXPECT_EQ(parse_content_encoding("snappy", true), Coding::kSnappy);
  EXPECT_EQ(parse_content_encoding("zstd", true), Coding::kZstd);
  EXPECT_EQ(parse_content_encoding("gzip", true).error().code, Errc::kUnsupported);
}

TEST(ContentCoding, AcceptEncoding) {
  EXPECT_EQ(choose_coding(""), Coding::kIdentity);
  EXPECT_EQ(choose_coding("identity"), Coding::kIdentity);
  EXPECT_EQ(choose_coding("gzip"), Coding::kGzip);
  EXPECT_EQ(choose_coding("deflate"), Coding::kDeflate);
  EXPECT_EQ(choose_coding("gzip, deflate, br, zstd"), Coding::kGzip);
  EXPECT_EQ(choose_coding("deflate;q=0.9, gzip;q=0.5"), Coding::kDeflate);
  EXPECT_EQ(choose_coding("gzip;q=0"), Coding::kIdentity);
  EXPECT_EQ(choose_coding("*"), Coding::kGzip);
  EXPECT_EQ(choose_coding("br"), Coding::kIdentity);
}

}  // namespace
TEST(ContentCoding, SnappyIsOneBlock) {
  const std::string text(1000, 'a');
  std::string packed;
  snappy::Compress(text.data(), text.size(), &packed);
  EXPECT_EQ(inflate_body(packed, Coding::kSnappy, 1000), text);
  EXPECT_EQ(inflate_body(packed, Coding::kSnappy, 999).error().code, Errc::kTooLarge);
  EXPECT_EQ(inflate_body(packed.substr(0, packed.size() - 1), Coding::kSnappy, 1000).error().code,
            Errc::kInvalidArgument);
  // A length of 2 GiB, with nothing behind it, takes no memory.
  EXPECT_EQ(inflate_body("", Coding::kSnappy, 1000).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(inflate_body(std::string_view("\0", 1), Coding::kSnappy, 1000), "");
  EXPECT_EQ(inflate_body("\x80\x80\x80\x80\x08", Coding::kSnappy, 1000).error().code,
            Errc::kTooLarge);
  EXPECT_EQ(inflate_body("\xFF\xFF\xFF\xFF\xFF\xFF", Coding::kSnappy, 1000).error().code,
            Errc::kInvalidArgument);
}

TEST(ContentCoding, SnappyOfEachSmallLength) {
  for (std::size_t length = 0; length < 100; ++length) {
    const std::string text(length, 'a');
    std::string packed;
    snappy::Compress(text.data(), text.size(), &packed);
    EXPECT_EQ(inflate_body(packed, Coding::kSnappy, 1000), text) << length;
  }
}

TEST(ContentCoding, ZstdIsAnyNumberOfFrames) {
  const std::string text(100'000, 'a');
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 1));
  EXPECT_EQ(inflate_body(frame, Coding::kZstd, text.size()), text);
  EXPECT_EQ(inflate_body(frame + frame, Coding::kZstd, 2 * text.size()), text + text);
  EXPECT_EQ(inflate_body(frame, Coding::kZstd, text.size() - 1).error().code, Errc::kTooLarge);
  EXPECT_EQ(
      inflate_body(frame.substr(0, frame.size() - 1), Coding::kZstd, text.size()).error().code,
      Errc::kInvalidArgument);
  EXPECT_EQ(inflate_body(frame + "x", Coding::kZstd, text.size()).error().code,
            Errc::kInvalidArgument);
}

}  // namespace halite::web
