#include "common/java/java_properties.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"

namespace halite {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

std::string_view without_indent(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// True if the line's last character is a backslash that is not escaped.
bool is_continued(std::string_view line) {
  const std::size_t last = line.find_last_not_of('\\');
  const std::size_t slashes = line.size() - (last == std::string_view::npos ? 0 : last + 1);
  return slashes % 2 == 1;
}

// Splits a text into lines that end in "\n", "\r" or "\r\n".
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    ++number_;
    const std::size_t end = rest_.find_first_of("\r\n");
    const std::string_view line = rest_.substr(0, end);
    if (end == std::string_view::npos) {
      rest_ = {};
    } else {
      rest_.remove_prefix(rest_.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
    }
    return line;
  }

  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// Reads one \uXXXX, or two of a surrogate pair. `text` starts after the first "\u" and is moved
// past the input read.
bool take_unicode(std::string_view& text, std::string& out) {
  const std::optional<std::uint32_t> first = leading_hex_unit(text);
  if (!first) return false;
  text.remove_prefix(4);
  char32_t point = *first;
  if (point >= 0xD800 && point < 0xDC00 && text.starts_with("\\u")) {
    const std::optional<std::uint32_t> second = leading_hex_unit(text.substr(2));
    if (second && *second >= 0xDC00 && *second < 0xE000) {
      point = 0x10000 + ((point - 0xD800) << 10) + (*second - 0xDC00);
      text.remove_prefix(6);
    }
  }
  append_utf8(out, point >= 0xD800 && point < 0xE000 ? U'\uFFFD' : point);
  return true;
}

Result<std::string> unescape(std::string_view text, std::size_t line) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\' || text.empty()) {
      if (c != '\\') out += c;
      continue;
    }
    const char escaped = text.front();
    text.remove_prefix(1);
    constexpr std::string_view kLetters = "tnrf";
    constexpr std::string_view kMeanings = "\t\n\r\f";
    const std::size_t letter = kLetters.find(escaped);
    if (letter != std::string_view::npos) {
      out += kMeanings[letter];
    } else if (escaped != 'u') {
      out += escaped;
    } else if (!take_unicode(text, out)) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("line {}: \\u must be followed by four hex digits, not \"{}\"", line,
                              text.substr(0, 4)));
    }
  }
  return out;
}

Result<JavaProperty> split(std::string_view logical, std::size_t line) {
  std::size_t at = 0;
  while (at < logical.size()) {
    const char c = logical[at];
    if (c == '=' || c == ':' || is_blank(c)) break;
    at += c == '\\' && at + 1 < logical.size() ? 2 : 1;
  }
  std::string_view value = without_indent(logical.substr(at));
  if (!value.empty() && (value.front() == '=' || value.front() == ':')) {
    value = without_indent(value.substr(1));
  }
  JavaProperty property{.key = {}, .value = {}, .line = line};
  TRY(property.key, unescape(logical.substr(0, at), line));
  TRY(property.value, unescape(value, line));
  return property;
}

}  // namespace

Result<std::vector<JavaProperty>> parse_java_properties(std::string_view text) {
  std::string recoded;
  if (!is_utf8(text)) {
    recoded = latin1_to_utf8(text);
    text = recoded;
  }
  std::vector<JavaProperty> properties;
  Lines lines(text);
  while (const std::optional<std::string_view> first = lines.next()) {
    std::string_view line = without_indent(*first);
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    const std::size_t number = lines.number();
    std::string logical;
    while (is_continued(line)) {
      logical += line.substr(0, line.size() - 1);
      const std::optional<std::string_view> more = lines.next();
      line = more ? without_indent(*more) : std::string_view();
    }
    logical += line;
    TRY(JavaProperty property, split(logical, number));
    properties.push_back(std::move(property));
  }
  return properties;
}

Result<std::vector<JavaProperty>> read_java_properties(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (!in.is_open() || in.bad()) {
    return fail(Errc::kNotFound,
                fmt::format("cannot read {}: {}", path,
                            std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe): start-up
  }
  Result<std::vector<JavaProperty>> properties = parse_java_properties(text.str());
  if (!properties) {
    return fail(properties.error().code, fmt::format("{}: {}", path, properties.error().message));
  }
  return properties;
}

}  // namespace halite
