// Compression with gzip and deflate; decompression also with zstd and snappy. No sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

enum class Coding : std::uint8_t { kIdentity, kGzip, kDeflate, kZstd, kSnappy };

// "gzip", "deflate", "zstd", "snappy" or "", as in a header.
[[nodiscard]] std::string_view coding_name(Coding coding);

// Parses a request's Content-Encoding header. kUnsupported: a coding that it does not know. Bodies
// of remote_write are snappy (the default) or zstd; all others plain (the default), gzip, deflate
// or zstd.
[[nodiscard]] Result<Coding> parse_content_encoding(std::string_view header, bool remote_write);

// The best coding that an Accept-Encoding header allows: gzip, then deflate, then identity.
[[nodiscard]] Coding choose_coding(std::string_view accept_encoding);

// Decompresses the whole body. "deflate" may have zlib's frame or, as some clients send it, none.
// "snappy" is one block, as in remote_write.
// kTooLarge: over bytes_max; kInvalidArgument: damaged or truncated.
[[nodiscard]] Result<std::string> inflate_body(std::string_view body, Coding coding,
                                               std::size_t bytes_max);

// Compresses a stream in pieces, by gzip or deflate.
class Deflater {
 public:
  struct Impl;

  // level 1 to 9
  Deflater(Coding coding, int level);
  ~Deflater();
  Deflater(Deflater&&) noexcept;
  Deflater& operator=(Deflater&&) noexcept;

  void add(std::string_view piece, std::string& to);
  void finish(std::string& to);  // ends the stream; add nothing afterwards

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::web
