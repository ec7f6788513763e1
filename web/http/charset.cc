#include "web/http/charset.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "web/http/http_message.h"

namespace halite::web {

namespace {

constexpr std::size_t kConvertStepBytes = 64 << 10;

// UTF-8, UTF-16, UTF-32 and stateless encodings that may be the default of a system or a Java
// program.
constexpr std::array kCharsets = {
    Charset{"utf8", nullptr},          Charset{"usascii", "US-ASCII"},
    Charset{"ascii", "US-ASCII"},      Charset{"iso88591", "ISO-8859-1"},
    Charset{"latin1", "ISO-8859-1"},   Charset{"iso88592", "ISO-8859-2"},
    Charset{"latin2", "ISO-8859-2"},   Charset{"iso88595", "ISO-8859-5"},
    Charset{"iso88597", "ISO-8859-7"}, Charset{"iso88599", "ISO-8859-9"},
    Charset{"latin5", "ISO-8859-9"},   Charset{"iso885915", "ISO-8859-15"},
    Charset{"latin9", "ISO-8859-15"},  Charset{"windows1250", "CP1250"},
    Charset{"cp1250", "CP1250"},       Charset{"windows1251", "CP1251"},
    Charset{"cp1251", "CP1251"},       Charset{"windows1252", "CP1252"},
    Charset{"cp1252", "CP1252"},       Charset{"windows1253", "CP1253"},
    Charset{"cp1253", "CP1253"},       Charset{"windows1254", "CP1254"},
    Charset{"cp1254", "CP1254"},       Charset{"koi8r", "KOI8-R"},
    Charset{"koi8u", "KOI8-U"},        Charset{"gbk", "GBK"},
    Charset{"gb2312", "GBK"},          Charset{"gb18030", "GB18030"},
    Charset{"big5", "BIG5"},           Charset{"shiftjis", "SHIFT_JIS"},
    Charset{"windows31j", "CP932"},    Charset{"eucjp", "EUC-JP"},
    Charset{"euckr", "EUC-KR"},        Charset{"utf16", "UTF-16"},
    Charset{"utf16be", "UTF-16BE"},    Charset{"utf16le", "UTF-16LE"},
    Charset{"utf32", "UTF-32"},        Charset{"utf32be", "UTF-32BE"},
    Charset{"utf32le", "UTF-32LE"},
};

class Decoder {
 public:
  explicit Decoder(const char* from) : state_(iconv_open("UTF-8", from)) {}
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder(Decoder&& other) noexcept : state_(std::exchange(other.state_, none())) {}
  Decoder& operator=(Decoder&&) = delete;
  ~Decoder() {
    if (known()) iconv_close(state_);
  }

  [[nodiscard]] bool known() const { return state_ != none(); }  // the system supports it

  // Consumes the front of `body` and writes after the first `size` bytes of `to`. Returns 0 or an
  // errno.
  int step(std::string_view& body, std::string& to, std::size_t& size) {
    char* in = const_cast<char*>(body.data());  // iconv does not write to it
    std::size_t in_left = body.size();
    char* out = to.data() + size;
    std::size_t out_left = to.size() - size;
    const bool stopped = iconv(state_, &in, &in_left, &out, &out_left) == kFailed;
    const int why = stopped ? errno : 0;
    body.remove_prefix(body.size() - in_left);
    size = to.size() - out_left;
    return why;
  }

 private:
  static constexpr std::size_t kFailed = static_cast<std::size_t>(-1);
  static iconv_t none() {
    return reinterpret_cast<iconv_t>(-1);  // NOLINT(performance-no-int-to-ptr): iconv's own value
  }

  iconv_t state_;
};

// The parameter's value, with or without quotes; empty if absent.
std::string_view charset_parameter(std::string_view content_type) {
  constexpr std::string_view kName = "charset";
  while (true) {
    const std::size_t semicolon = content_type.find(';');
    if (semicolon == std::string_view::npos) return {};
    content_type.remove_prefix(semicolon + 1);
    const std::string_view parameter = trim(content_type.substr(0, content_type.find(';')));
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) continue;
    if (!equal_ignoring_case(trim(parameter.substr(0, equals)), kName)) continue;
    std::string_view value = trim(parameter.substr(equals + 1));
    for (const char quote : {'"', '\''}) {
      if (value.size() < 2 || !value.starts_with(quote) || !value.ends_with(quote)) continue;
      value = trim(value.substr(1, value.size() - 2));
    }
    return value;
  }
}

std::string plain_name(std::string_view charset) {
  std::string name = to_lower(charset);
  std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
  return name;
}

// Without a mark, iconv would use the byte order of this machine.
const char* library_name(std::string_view body, const Charset& charset) {
  using namespace std::string_view_literals;
  const bool marked16 = body.starts_with("\xFE\xFF"sv) || body.starts_with("\xFF\xFE"sv);
  const bool marked32 = body.starts_with("\0\0\xFE\xFF"sv) || body.starts_with("\xFF\xFE\0\0"sv);
  if (charset.name == "utf16" && !marked16) return "UTF-16BE";
  if (charset.name == "utf32" && !marked32) return "UTF-32BE";
  return charset.library;
}

Error not_in(const Charset& charset, std::string_view rest, std::size_t at, bool cut) {
  std::string bytes;
  for (const char byte : rest.substr(0, 4)) {
    bytes += fmt::format(" {:02X}", static_cast<unsigned char>(byte));
  }
  return {Errc::kInvalidArgument,
          fmt::format("The body is not valid {}, the charset in its Content-Type", charset.library),
          fmt::format("{} at byte {}:{}", cut ? "a truncated character" : "an invalid character",
                      at, bytes)};
}

}  // namespace

void load_charsets() {
  // An open decoder is not unloaded.
  static const std::vector<Decoder> kKept = [] {
    std::vector<Decoder> decoders;
    for (const Charset& charset : kCharsets) {
      if (charset.library != nullptr) decoders.emplace_back(charset.library);
    }
    return decoders;
  }();
}

Result<Charset> parse_charset(std::string_view content_type) {
  const std::string_view named = charset_parameter(content_type);
  if (named.empty()) return kCharsets.front();
  const std::string name = plain_name(named);
  const auto* found = std::ranges::find(kCharsets, name, &Charset::name);
  if (found != kCharsets.end()) return *found;
  return fail(Errc::kUnsupported,
              fmt::format("The charset \"{}\" in Content-Type is unknown", named), "send UTF-8");
}

Result<std::string> decode_body(std::string_view body, const Charset& charset,
                                std::size_t bytes_max, std::string_view setting) {
  if (charset.library == nullptr) return std::string(body);
  Decoder decoder(library_name(body, charset));
  if (!decoder.known()) {
    return fail(Errc::kUnsupported,
                fmt::format("The C library of this server does not know the charset \"{}\"",
                            charset.library),
                "send UTF-8, or install the iconv modules of the C library (gconv)");
  }
  std::string text;
  std::size_t size = 0;
  std::string_view rest = body;
  while (true) {
    // One extra byte distinguishes "exactly the maximum" from "too much". A character that does not
    // fit needs up to three more.
    const std::size_t room = std::max(kConvertStepBytes, size);
    text.resize(std::min(size + room, bytes_max + 4));
    const int why = decoder.step(rest, text, size);
    const bool full = why == E2BIG && text.size() == bytes_max + 4;
    if (full || size > bytes_max) {
      return fail(Errc::kTooLarge, fmt::format("The body is longer than {} bytes in UTF-8 ({})",
                                               bytes_max, setting));
    }
    if (why == 0) break;
    if (why != E2BIG) {
      return std::unexpected(not_in(charset, rest, body.size() - rest.size(), why == EINVAL));
    }
  }
  text.resize(size);
  return text;
}

}  // namespace halite::web
