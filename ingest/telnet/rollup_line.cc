#include "ingest/telnet/rollup_line.h"

#include <vector>

#include <fmt/format.h>

#include "ingest/rules/refusal.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kRollupWordsMin = 6;

// The text between the first colons, split as in Java: nothing after the last one counts.
std::expected<void, Refused> read_aggregators(std::string_view word, SentRollup& sent) {
  const std::size_t colon = word.find(':');
  const std::string_view first = word.substr(0, colon);
  std::string_view second;
  if (colon != std::string_view::npos) {
    second = word.substr(colon + 1);
    second = second.substr(0, second.find(':'));
  }
  if (first.empty() && second.empty()) return illegal("Missing interval or aggregator");
  const std::size_t dash = first.find('-');
  if (dash != std::string_view::npos) {
    sent.interval = first.substr(0, dash);
    sent.aggregator = first.substr(dash + 1);
  } else if (second.empty()) {
    sent.group_aggregator = first;
  }
  if (!second.empty()) sent.group_aggregator = second;
  if (sent.group_aggregator && !sent.aggregator) sent.aggregator = sent.group_aggregator;
  return {};
}

std::expected<NamedRollup, Refused> parse_rollup_words(const std::vector<std::string_view>& words,
                                                       const RollupRules& rules) {
  if (words.size() < kRollupWordsMin) {
    return illegal(fmt::format("not enough arguments (need least 7, got {})", words.size() - 1));
  }
  SentRollup sent;
  if (auto read = read_aggregators(words[1], sent); !read) return std::unexpected(read.error());
  if (words[2].empty()) return illegal("empty metric name");
  sent.metric = words[2];
  const auto timestamp = parse_line_timestamp(words[3]);
  if (!timestamp) return refuse(RefusalReason::kInvalidValue, timestamp.error());
  if (*timestamp <= 0) return illegal(fmt::format("invalid timestamp: {}", *timestamp));
  sent.timestamp = *timestamp;
  if (words[4].empty()) return illegal("empty value");
  for (std::size_t i = kRollupWordsMin - 1; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    if (auto added = add_tag(sent.tags, words[i]); !added) return std::unexpected(added.error());
  }
  const auto value = parse_value(words[4]);
  if (!value) return refuse(RefusalReason::kInvalidValue, value.error());
  sent.value = *value;
  return rules.validate(sent);
}

}  // namespace

std::expected<NamedRollup, Refused> parse_rollup_line(std::string_view line,
                                                      const RollupRules& rules) {
  return parse_line_words(line, [&rules](const std::vector<std::string_view>& words) {
    return parse_rollup_words(words, rules);
  });
}

}  // namespace halite::ingest
