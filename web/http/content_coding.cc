#include "web/http/content_coding.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include <fmt/format.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "common/bytes/ascii.h"
#include "common/check.h"
#include "web/http/http_message.h"
#include "web/http/zlib_stream.h"

namespace halite::web {

namespace {

constexpr int kNoFrame = -15;
constexpr std::size_t kInflateStepBytes = 64 << 10;

Bytef* input_of(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write to it
}

// Ends its inflating stream when destroyed.
struct Inflater {
  z_stream stream{};
  explicit Inflater(int window) {
    HALITE_CHECK(inflateInit2(&stream, window) == Z_OK, "zlib has no memory");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

Error too_large(std::size_t bytes_max) {
  return {Errc::kTooLarge,
          fmt::format("The body inflates to more than {} bytes (web.body_inflated_bytes_max)",
                      bytes_max),
          {}};
}

Error damaged(std::string_view why) {
  return {Errc::kInvalidArgument, "Unable to inflate the body", std::string(why)};
}

Result<std::string> inflate_frame(std::string_view body, int window, std::size_t bytes_max) {
  Inflater inflater(window);
  z_stream& stream = inflater.stream;
  std::string result;
  while (true) {
    if (stream.avail_in == 0) {
      const std::string_view step = body.substr(0, kInputStepBytes);
      body.remove_prefix(step.size());
      stream.next_in = input_of(step);
      stream.avail_in = static_cast<uInt>(step.size());
    }
    const std::size_t before = result.size();
    // One extra byte distinguishes "exactly the maximum" from "too much".
    const std::size_t room =
        std::min({std::max(before, kInflateStepBytes), bytes_max - before + 1, kInputStepBytes});
    result.resize(before + room);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + before);
    stream.avail_out = static_cast<uInt>(room);
    const int state = inflate(&stream, Z_NO_FLUSH);
    result.resize(before + room - stream.avail_out);
    if (result.size() > bytes_max) {
      return std::unexpected(too_large(bytes_max));
    }
    if (state == Z_STREAM_END) {
      if (stream.avail_in + body.size() == 0 || window != kGzipFrame) return result;
      inflateReset(&stream);  // a gzip file may have several members
      continue;
    }
    if (state != Z_OK && state != Z_BUF_ERROR) {
      return std::unexpected(damaged(stream.msg != nullptr ? stream.msg : "damaged data"));
    }
    if (stream.avail_in + body.size() == 0 && stream.avail_out != 0) {
      return std::unexpected(damaged("it ends too early"));
    }
  }
}

// One or more frames.
Result<std::string> decompress_zstd(std::string_view body, std::size_t bytes_max) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  HALITE_CHECK(stream != nullptr, "zstd has no memory");
  constexpr int kWindowLogMax = 23;  // 8 MiB: RFC 9659, 3
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  std::string result;
  ZSTD_inBuffer in{.src = body.data(), .size = body.size(), .pos = 0};
  while (true) {
    const std::size_t before = result.size();
    const std::size_t room = std::min(std::max(before, kInflateStepBytes), bytes_max - before + 1);
    result.resize(before + room);
    ZSTD_outBuffer out{.dst = result.data() + before, .size = room, .pos = 0};
    const std::size_t more = ZSTD_decompressStream(stream.get(), &out, &in);
    result.resize(before + out.pos);
    if (ZSTD_isError(more) != 0) return std::unexpected(damaged(ZSTD_getErrorName(more)));
    if (result.size() > bytes_max) return std::unexpected(too_large(bytes_max));
    if (in.pos < in.size) continue;
    if (more == 0) return result;
    if (out.pos < out.size) return std::unexpected(damaged("it ends too early"));
  }
}

// One block: its length comes first.
Result<std::string> decompress_snappy(std::string_view body, std::size_t bytes_max) {
  std::size_t length = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &length)) {
    return std::unexpected(damaged("it is no block of snappy"));
  }
  if (length > bytes_max) return std::unexpected(too_large(bytes_max));
  std::string result;
  bool whole = false;
  // libstdc++ 12 passes the capacity, which may be more.
  result.resize_and_overwrite(length, [&](char* to, std::size_t /*size*/) {
    whole = snappy::RawUncompress(body.data(), body.size(), to);
    return length;
  });
  if (!whole) return std::unexpected(damaged("the block of snappy is damaged"));
  return result;
}

// The weight of an element of Accept-Encoding, "gzip;q=0.5"; 1 by default.
double quality(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  if (at == std::string_view::npos) return 1;
  const std::string_view text = trim(parameters.substr(at + 2));
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string_view coding_name(Coding coding) {
  switch (coding) {
    case Coding::kIdentity:
      return "";
    case Coding::kGzip:
      return "gzip";
    case Coding::kDeflate:
      return "deflate";
    case Coding::kZstd:
      return "zstd";
    case Coding::kSnappy:
      return "snappy";
  }
  return "";
}

Result<Coding> parse_content_encoding(std::string_view header, bool remote_write) {
  const std::string_view name = trim(header);
  if (equal_ignoring_case(name, "zstd")) return Coding::kZstd;
  if (remote_write) {
    if (name.empty() || equal_ignoring_case(name, "snappy")) return Coding::kSnappy;
    return fail(Errc::kUnsupported,
                fmt::format("Content-Encoding must be snappy or zstd, not \"{}\"", name));
  }
  if (name.empty() || equal_ignoring_case(name, "identity")) return Coding::kIdentity;
  if (equal_ignoring_case(name, "gzip") || equal_ignoring_case(name, "x-gzip")) {
    return Coding::kGzip;
  }
  if (equal_ignoring_case(name, "deflate")) return Coding::kDeflate;
  return fail(Errc::kUnsupported,
              fmt::format("Content-Encoding must be gzip, deflate or zstd, not \"{}\"", name));
}

Coding choose_coding(std::string_view accept_encoding) {
  double gzip = 0;
  double deflate = 0;
  while (!accept_encoding.empty()) {
    const std::size_t comma = accept_encoding.find(',');
    const std::string_view element = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(comma == std::string_view::npos ? accept_encoding.size()
                                                                  : comma + 1);
    const std::size_t semicolon = element.find(';');
    const std::string_view name = trim(element.substr(0, semicolon));
    const double weight =
        semicolon == std::string_view::npos ? 1 : quality(element.substr(semicolon + 1));
    if (equal_ignoring_case(name, "gzip") || equal_ignoring_case(name, "x-gzip") || name == "*") {
      gzip = weight;
    } else if (equal_ignoring_case(name, "deflate")) {
      deflate = weight;
    }
  }
  if (gzip > 0 && gzip >= deflate) return Coding::kGzip;
  return deflate > 0 ? Coding::kDeflate : Coding::kIdentity;
}

Result<std::string> inflate_body(std::string_view body, Coding coding, std::size_t bytes_max) {
  if (coding == Coding::kIdentity) return std::string(body);
  if (coding == Coding::kSnappy) return decompress_snappy(body, bytes_max);
  if (body.empty()) return std::string();
  if (coding == Coding::kGzip) return inflate_frame(body, kGzipFrame, bytes_max);
  if (coding == Coding::kZstd) return decompress_zstd(body, bytes_max);
  // A zlib frame begins with two bytes that form a multiple of 31.
  const bool framed =
      body.size() >= 2 && (body[0] & 0x0f) == Z_DEFLATED &&
      (static_cast<unsigned char>(body[0]) * 256 + static_cast<unsigned char>(body[1])) % 31 == 0;
  return inflate_frame(body, framed ? kZlibFrame : kNoFrame, bytes_max);
}

}  // namespace halite::web
