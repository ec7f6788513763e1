#include "query/selector/quoted.h"

#include <utility>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"

namespace halite::query {
namespace {

constexpr char32_t kReplacement = U'\uFFFD';

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), quote_(text.front()) {}

  QuotedText read() {
    while (read_character()) continue;
    quoted_.bytes = at_;
    return std::move(quoted_);
  }

 private:
  bool fail(QuotedFault fault, std::size_t at) {
    quoted_.fault = fault;
    quoted_.at = at;
    return false;
  }
  // The character at `at_`, which is not at the end; bytes = 0: not UTF-8.
  [[nodiscard]] CodePoint peek() const {
    const CodePoint next = decode_utf8(text_.substr(at_));
    return next.value >= 0xD800 && next.value <= 0xDFFF ? CodePoint() : next;
  }

  // False behind the closing quote, or at a fault.
  bool read_character() {
    if (at_ == text_.size()) return fail(QuotedFault::kNoEnd, 0);
    const char c = text_[at_];
    if (c == '\\' && quote_ != '`') return read_escape();
    if (c == quote_) {
      ++at_;
      return false;
    }
    if (c == '\n' && quote_ != '`') return fail(QuotedFault::kNoEnd, 0);
    const std::size_t bytes = peek().bytes;
    if (bytes == 0) return fail(QuotedFault::kNotUtf8, at_);
    quoted_.value += text_.substr(at_, bytes);
    at_ += bytes;
    return true;
  }

  // Notes the character at `at_` as that of a fault.
  bool fail_at_character(QuotedFault fault, std::size_t escape) {
    if (at_ == text_.size()) return fail(QuotedFault::kEscapeCut, escape);
    const CodePoint next = peek();
    quoted_.character = next.bytes == 0 ? kReplacement : next.value;
    return fail(fault, escape);
  }

  bool read_escape() {
    static constexpr std::string_view kLetters = "abfnrtv\\";
    static constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\";
    const std::size_t escape = at_++;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (const std::size_t letter = kLetters.find(c); letter != std::string_view::npos) {
      quoted_.value += kMeant[letter];
    } else if (c == quote_) {
      quoted_.value += c;
    } else if (c >= '0' && c <= '7') {
      return read_digits(escape, 3, 8);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++at_;
      return read_digits(escape, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16);
    } else {
      return fail_at_character(QuotedFault::kEscapeUnknown, escape);
    }
    ++at_;
    return true;
  }

  bool read_digits(std::size_t escape, int digits, int base) {
    quoted_.digits = digits;
    quoted_.base = base;
    char32_t number = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
      if (digit < 0 || digit >= base) {
        return fail_at_character(QuotedFault::kEscapeDigit, escape);
      }
      number = number * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
    }
    if (base == 8 && number > 0xFF) return fail(QuotedFault::kEscapeByte, escape);
    if (base == 8 || digits == 2) {
      quoted_.value += static_cast<char>(number);
      return true;
    }
    if (number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) {
      return fail(QuotedFault::kEscapeCharacter, escape);
    }
    append_utf8(quoted_.value, number);
    return true;
  }

  std::string_view text_;
  char quote_;
  std::size_t at_ = 1;
  QuotedText quoted_;
};

}  // namespace

QuotedText read_quoted(std::string_view text) { return Reader(text).read(); }

}  // namespace halite::query
