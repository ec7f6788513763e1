// gzip and deflate, both ways. No sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

enum class Coding : std::uint8_t { kIdentity, kGzip, kDeflate };

// "gzip", "deflate" or "" as a header spells them.
[[nodiscard]] std::string_view coding_name(Coding coding);

// What a Content-Encoding header of a request asks us to undo. kUnsupported: another coding.
[[nodiscard]] Result<Coding> parse_content_encoding(std::string_view header);

// The best coding that an Accept-Encoding header allows: gzip, then deflate, else identity.
[[nodiscard]] Coding choose_coding(std::string_view accept_encoding);

// The whole body, inflated. "deflate" takes zlib's frame and, as some clients send it, none.
// kTooLarge: it would grow over bytes_max; kInvalidArgument: damaged or cut.
[[nodiscard]] Result<std::string> inflate_body(std::string_view body, Coding coding,
                                               std::size_t bytes_max);

// Compresses a stream piece by piece.
class Deflater {
 public:
  struct Impl;

  // level 1 to 9; coding is not kIdentity.
  Deflater(Coding coding, int level);
  ~Deflater();
  Deflater(Deflater&&) noexcept;
  Deflater& operator=(Deflater&&) noexcept;

  void add(std::string_view piece, std::string& to);
  void finish(std::string& to);  // the end of the stream; nothing may be added afterwards

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::web
