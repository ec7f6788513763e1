#include "common/tracing/trace_context.h"

#include <algorithm>
#include <set>

#include "common/bytes/ascii.h"

namespace halite {
namespace {

constexpr std::size_t kKeyBytesMax = 256;
constexpr std::size_t kTenantBytesMax = 241;  // before the @
constexpr std::size_t kSystemBytesMax = 14;   // after it
constexpr std::size_t kValueBytesMax = 256;

// Capitals are not valid.
bool is_digit_of_id(char c) { return hex_digit(c) >= 0 && !is_upper(c); }

bool read_hex(std::string_view text, std::span<std::uint8_t> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const char high = text[2 * i];
    const char low = text[2 * i + 1];
    if (!is_digit_of_id(high) || !is_digit_of_id(low)) return false;
    to[i] = static_cast<std::uint8_t>(hex_digit(high) << 4 | hex_digit(low));
  }
  return true;
}

bool is_zero(std::span<const std::uint8_t> id) {
  return std::ranges::all_of(id, [](std::uint8_t byte) { return byte == 0; });
}

bool are_key_characters(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '*' || c == '/';
  });
}

// As in level 2: a key may begin with a digit, and what stands after an @ with a letter.
bool is_key(std::string_view key) {
  if (key.empty() || key.size() > kKeyBytesMax) return false;
  if (!is_lower(key.front()) && !is_digit(key.front())) return false;
  const std::size_t at = key.find('@');
  if (at == std::string_view::npos) return are_key_characters(key);
  const std::string_view system = key.substr(at + 1);
  return at <= kTenantBytesMax && are_key_characters(key.substr(0, at)) && !system.empty() &&
         system.size() <= kSystemBytesMax && is_lower(system.front()) && are_key_characters(system);
}

bool is_value(std::string_view value) {
  return !value.empty() && value.size() <= kValueBytesMax && value.back() != ' ' &&
         std::ranges::all_of(value,
                             [](char c) { return c >= 0x20 && c <= 0x7E && c != ',' && c != '='; });
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view header) {
  // version-trace id-span id-flags
  constexpr std::size_t kTraceAt = 3;
  constexpr std::size_t kSpanAt = 36;
  constexpr std::size_t kFlagsAt = 53;
  constexpr std::size_t kBytes = 55;
  constexpr std::uint8_t kNoVersion = 0xFF;
  const std::string_view text = trim(header);
  if (text.size() < kBytes) return std::nullopt;
  if (text[kTraceAt - 1] != '-' || text[kSpanAt - 1] != '-' || text[kFlagsAt - 1] != '-') {
    return std::nullopt;
  }
  std::uint8_t version = 0;
  std::uint8_t flags = 0;
  TraceContext context;
  if (!read_hex(text, {&version, 1}) || version == kNoVersion) return std::nullopt;
  if (!read_hex(text.substr(kTraceAt), context.trace_id)) return std::nullopt;
  if (!read_hex(text.substr(kSpanAt), context.span_id)) return std::nullopt;
  if (!read_hex(text.substr(kFlagsAt), {&flags, 1})) return std::nullopt;
  if (is_zero(context.trace_id) || is_zero(context.span_id)) return std::nullopt;
  if (text.size() > kBytes && (version == 0 || text[kBytes] != '-')) return std::nullopt;
  context.flags = flags & (TraceContext::kSampled | TraceContext::kRandom);
  return context;
}

std::string id_text(std::span<const std::uint8_t> id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : id) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text;
}

bool is_tracestate(std::string_view header) {
  if (header.size() > kTracestateBytesMax) return false;
  std::set<std::string_view> keys;
  std::size_t members = 0;
  for (std::string_view rest = header; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view member = trim(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == std::string_view::npos || ++members > kTracestateMembersMax) return false;
    const std::string_view key = member.substr(0, equals);
    if (!is_key(key) || !is_value(member.substr(equals + 1)) || !keys.insert(key).second) {
      return false;
    }
  }
  return members > 0;
}

}  // namespace halite
