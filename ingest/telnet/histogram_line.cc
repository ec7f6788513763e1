#include "ingest/telnet/histogram_line.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/base64.h"
#include "common/bytes/read_number.h"
#include "ingest/rules/refusal.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kHistogramWordsMin = 5;

// Like Java's parseInt and parseLong.
template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  Integer value = 0;
  if (!read_number(text, value)) return std::nullopt;
  return value;
}

bool add_part(storage::SimpleHistogram& histogram, std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string name = to_lower(part.substr(0, equals));
  const auto count = parse_integer<std::int64_t>(part.substr(equals + 1));
  if (!count) return false;
  if (name == "u") {
    histogram.underflow = *count;
  } else if (name == "o") {
    histogram.overflow = *count;
  } else {
    return add_bucket(histogram, name, *count).has_value();
  }
  return true;
}

std::optional<storage::SimpleHistogram> parse_buckets(std::string_view text) {
  storage::SimpleHistogram histogram;
  while (true) {
    const std::size_t colon = text.find(':');
    if (!add_part(histogram, text.substr(0, colon))) return std::nullopt;
    if (colon == std::string_view::npos) return histogram;
    text.remove_prefix(colon + 1);
  }
}

// OpenTSDB detects this during the write, so it reports a storage error.
Refused late(Refused why) {
  why.reason = RefusalReason::kStorage;
  return why;
}

std::expected<NamedHistogram, Refused> parse_histogram_words(
    const std::vector<std::string_view>& words, const HistogramRules& rules) {
  if (words.size() < kHistogramWordsMin) {
    return illegal(fmt::format("not enough arguments (need least 5, got {})", words.size() - 1));
  }
  if (words[1].empty()) return illegal("empty metric name");
  const auto timestamp = parse_line_timestamp(words[2]);
  if (!timestamp) return refuse(RefusalReason::kInvalidValue, timestamp.error());
  if (*timestamp <= 0) return illegal(fmt::format("invalid timestamp: {}", *timestamp));
  const auto codec = parse_integer<std::int32_t>(words[3]);
  const auto simple = codec ? std::uint8_t{0} : rules.simple_id();
  if (!simple) return std::unexpected(simple.error());
  const std::size_t value_at = codec ? 4 : 3;
  if (words[value_at].empty()) return illegal("empty histogram value");
  SentHistogram sent{.metric = words[1], .timestamp = *timestamp, .tags = {}};
  for (std::size_t i = value_at + 1; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    if (auto added = add_tag(sent.tags, words[i]); !added) return std::unexpected(added.error());
  }

  Bytes value;
  if (codec) {
    auto recoded = rules.recode(*codec, from_lenient_base64(words[value_at]));
    if (!recoded) return std::unexpected(late(std::move(recoded).error()));
    value = *std::move(recoded);
  } else {
    const auto histogram = parse_buckets(words[value_at]);
    if (!histogram) return refuse(RefusalReason::kInvalidValue, {});
    value = encode_histogram(*simple, *histogram);
  }
  auto named = rules.validate(std::move(sent), std::move(value));
  if (!named) return std::unexpected(late(std::move(named).error()));
  return named;
}

}  // namespace

std::expected<NamedHistogram, Refused> parse_histogram_line(std::string_view line,
                                                            const HistogramRules& rules) {
  return parse_line_words(line, [&rules](const std::vector<std::string_view>& words) {
    return parse_histogram_words(words, rules);
  });
}

}  // namespace halite::ingest
