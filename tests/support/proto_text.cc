#include "tests/support/proto_text.h"

#include <charconv>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/proto_reader.h"
#include "common/bytes/varint.h"
#include "common/data_point.h"

namespace halite::test {
namespace {

class ProtoText {
 public:
  explicit ProtoText(std::string_view text) : rest_(text) {}

  // Up to '}' or the end.
  Bytes fields() {
    Bytes out;
    for (skip_blanks(); !rest_.empty() && rest_.front() != '}'; skip_blanks()) {
      if (rest_.front() == '`') {
        out += take_hex();
        continue;
      }
      const std::uint64_t number = take_unsigned(take_word());
      expect(':');
      skip_blanks();
      take_value(out, number << 3);
    }
    return out;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }
  [[noreturn]] void wrong(std::string_view what) const {
    throw std::runtime_error(fmt::format("{} before \"{}\"", what, rest_.substr(0, 40)));
  }
  void expect(char wanted) {
    if (!rest_.starts_with(wanted)) wrong(fmt::format("'{}' is missing", wanted));
    rest_.remove_prefix(1);
  }
  std::string_view take_until(char end) {
    const std::size_t size = rest_.find(end);
    if (size == std::string_view::npos) wrong(fmt::format("'{}' is missing", end));
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size + 1);
    return taken;
  }
  std::string_view take_word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \n:{}[]"));
    rest_.remove_prefix(word.size());
    return word;
  }
  Bytes take_hex() {
    expect('`');
    return from_hex(take_until('`')).value();
  }
  std::uint64_t take_unsigned(std::string_view word, int base = 10) {
    std::uint64_t number = 0;
    const char* const end = word.data() + word.size();
    if (std::from_chars(word.data(), end, number, base).ptr != end || word.empty()) {
      wrong(fmt::format("\"{}\" is no number", word));
    }
    return number;
  }
  Bytes take_string() {
    expect('"');
    Bytes out;
    while (!rest_.starts_with('"')) {
      if (rest_.size() < 2) wrong("a string has no end");
      char next = rest_.front();
      rest_.remove_prefix(1);
      if (next == '\\') {
        next = rest_.front();
        rest_.remove_prefix(1);
        if (next == 'n') next = '\n';
        if (next == '0') next = '\0';
        if (next == 'x') {
          next = static_cast<char>(take_unsigned(rest_.substr(0, 2), 16));
          rest_.remove_prefix(2);
        }
      }
      out += next;
    }
    expect('"');
    return out;
  }

  static void append_delimited(Bytes& out, std::uint64_t tag, const Bytes& bytes) {
    append_varint(out, tag | static_cast<std::uint64_t>(ProtoWire::kBytes));
    append_varint(out, bytes.size());
    out += bytes;
  }
  static void append_fixed64(Bytes& out, std::uint64_t tag, std::uint64_t bits) {
    append_varint(out, tag | static_cast<std::uint64_t>(ProtoWire::kFixed64));
    append_le(out, bits);
  }

  void take_value(Bytes& out, std::uint64_t tag) {
    if (rest_.starts_with('{')) {
      expect('{');
      const Bytes message = fields();
      expect('}');
      return append_delimited(out, tag, message);
    }
    if (rest_.starts_with('"')) return append_delimited(out, tag, take_string());
    if (rest_.starts_with('[')) {
      expect('[');
      Bytes numbers;
      for (skip_blanks(); !rest_.starts_with(']'); skip_blanks()) {
        append_varint(numbers, take_unsigned(take_word()));
      }
      expect(']');
      return append_delimited(out, tag, numbers);
    }
    const std::string_view word = take_word();
    if (word.starts_with("0x")) return append_fixed64(out, tag, take_unsigned(word.substr(2), 16));
    if (word.contains('.')) {
      return append_fixed64(out, tag, double_bits(std::stod(std::string(word))));
    }
    append_varint(out, tag | static_cast<std::uint64_t>(ProtoWire::kVarint));
    append_varint(out, word.starts_with('-') ? std::uint64_t{0} - take_unsigned(word.substr(1))
                                             : take_unsigned(word));
  }

  std::string_view rest_;
};

}  // namespace

Bytes proto_bytes(std::string_view text) {
  ProtoText reader(text);
  Bytes bytes = reader.fields();
  if (!reader.empty()) throw std::runtime_error("a '}' too many");
  return bytes;
}

}  // namespace halite::test
