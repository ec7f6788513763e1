#include "app/client/server_answer.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "app/tools/one_line.h"
#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "common/json/json_value.h"

namespace halite::app {
namespace {

constexpr std::size_t kEscapeBytes = 6;  // \uXXXX

// The unit of an escape \uXXXX at the beginning.
std::optional<char16_t> leading_escape(std::string_view text) {
  if (!text.starts_with("\\u")) return std::nullopt;
  return leading_hex_unit(text.substr(2));
}

bool is_high_half(char16_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_half(char16_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// The JSON with half pairs replaced.
std::string with_whole_pairs(std::string_view text) {
  std::string whole;
  whole.reserve(text.size());
  while (true) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    whole += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return whole;
    const std::optional<char16_t> unit = leading_escape(text);
    std::size_t bytes = unit ? kEscapeBytes : std::min<std::size_t>(2, text.size());
    bool half = false;
    if (unit && is_high_half(*unit)) {
      const std::optional<char16_t> next = leading_escape(text.substr(kEscapeBytes));
      half = !next || !is_low_half(*next);
      if (!half) bytes = 2 * kEscapeBytes;
    } else if (unit && is_low_half(*unit)) {
      half = true;
    }
    whole += half ? std::string_view("\\uFFFD") : text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
}

// Empty if there is no such text.
std::string text_at(const boost::json::value& answer, std::string_view pointer) {
  boost::system::error_code missing;
  const boost::json::value* const found = answer.find_pointer(pointer, missing);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

boost::json::value parse_answer(std::string_view body, boost::system::error_code& error) {
  const std::string text = with_whole_pairs(body);
  return parse_json_value(is_utf8(text) ? text : repair_utf8(text), error);
}

std::string answer_text(const Peer& peer, std::string_view target, const HttpReply& reply) {
  constexpr std::size_t kSaidBytesMax = 300;
  constexpr std::size_t kBodyBytesMax = 100;
  boost::system::error_code error;
  const boost::json::value answer = parse_answer(reply.body, error);
  std::string said = text_at(answer, "/error/message");
  const std::string details = text_at(answer, "/error/details");
  if (details.contains(said)) {
    if (!details.empty()) said = details;
  } else if (!details.empty()) {
    said += ": " + details;
  }
  if (!said.empty()) {
    said.resize(utf8_prefix(said, kSaidBytesMax).size());
  } else if (!reply.body.empty()) {
    said = fmt::format("{}{}", error ? "not JSON: " : "",
                       utf8_prefix(std::string_view(reply.body), kBodyBytesMax));
  }
  return fmt::format("the server answered {} to {}{}{}{}", reply.status, url_text(peer.url),
                     target.substr(0, target.find('?')), said.empty() ? "" : ": ",
                     shown_line(said));
}

}  // namespace halite::app
