#include "ingest/telnet/fast_line_parser.h"

#include <cstring>

#include "common/bytes/ascii.h"
#include "ingest/rules/java_number.h"
#include "ingest/rules/point_rules.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

bool begins_with(const char* at, const char* end, std::string_view wanted) {
  return static_cast<std::size_t>(end - at) >= wanted.size() &&
         std::memcmp(at, wanted.data(), wanted.size()) == 0;
}

}  // namespace

// The position after the timestamp and its blank; null if the input differs.
const char* FastLineParser::take_time(const char* at, const char* end) {
  if (!time_text_.empty() && begins_with(at, end, time_text_)) return at + time_text_.size();
  constexpr std::ptrdiff_t kDigitsMax = 13;
  const char* const begin = at;
  std::int64_t timestamp = 0;
  for (; at != end && is_digit(*at); ++at) {
    if (at - begin == kDigitsMax) return nullptr;
    timestamp = (timestamp * 10) + (*at - '0');
  }
  if (at == end || *at != ' ' || timestamp <= 0) return nullptr;
  ++at;
  time_text_.assign(begin, at);
  timestamp_ = timestamp;
  return at;
}

// The position after the value and its blank.
const char* FastLineParser::take_value(const char* at, const char* end) {
  constexpr std::ptrdiff_t kDigitsMax = 18;
  const char* const begin = at;
  std::uint64_t digits = 0;
  for (; at != end && is_digit(*at); ++at)
    digits = (digits * 10) + static_cast<std::uint64_t>(*at - '0');
  if (at != end && *at == ' ' && at != begin && at - begin <= kDigitsMax) {
    point_.value = digits;
    point_.flags = 0;
    return at + 1;
  }
  const void* const blank = std::memchr(at, ' ', static_cast<std::size_t>(end - at));
  if (blank == nullptr) return nullptr;
  at = static_cast<const char*>(blank);
  Number number;
  if (!parse_finite_value({begin, static_cast<std::size_t>(at - begin)}, number)) return nullptr;
  point_.value = number.bits;
  point_.flags = number.is_float ? kFloat : 0;
  return at + 1;
}

std::size_t FastLineParser::take(std::string_view text, std::size_t line_bytes_max,
                                 SeriesCache::Reader& reader) {
  const CachedKey* const expected = reader.expected();
  if (expected == nullptr || expected->grammar != KeyGrammar::kPutLine) return 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (!begins_with(at, end, before_metric_)) return 0;
  at += before_metric_.size();
  const std::string_view metric = expected->metric();
  if (!begins_with(at, end, metric)) return 0;
  at += metric.size();
  if (at == end || *at != ' ') return 0;
  ++at;
  at = take_time(at, end);
  if (at == nullptr) return 0;
  at = take_value(at, end);
  if (at == nullptr) return 0;
  const std::string_view tags = expected->tags();
  if (!begins_with(at, end, tags)) return 0;
  at += tags.size();
  const auto length = static_cast<std::size_t>(at - text.data());
  if (at != end && *at == '\r') ++at;
  if (at == end || *at != '\n' || length > line_bytes_max) return 0;
  ++at;
  id_ = expected->id;
  const bool is_float = (point_.flags & kFloat) != 0;
  point_.time = to_ms(timestamp_);
  point_.flags = point_flags(timestamp_, is_float, false);
  reader.take_expected();
  return static_cast<std::size_t>(at - text.data());
}

}  // namespace halite::ingest
