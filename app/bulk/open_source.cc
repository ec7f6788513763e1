#include "app/bulk/open_source.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/bulk/server_source.h"
#include "common/units.h"
#include "query/parse/filter_text.h"
#include "query/parse/time.h"

namespace halite::app {
namespace {

// Whether a text is a date of this time. Queries take "2023/99/99", too, as OpenTSDB does.
bool is_date(std::string text, TimestampMs time) {
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(time)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(at - day);
  const std::string written =
      fmt::format("{:04}/{:02}/{:02}-{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  std::ranges::replace(text, ' ', '-');
  return written.starts_with(text);
}

Result<TimestampMs> parse_edge(std::string_view flag, const std::string& text,
                               TimestampMs standard) {
  if (text.empty()) return standard;
  // Queries take "1700000000.5" as OpenTSDB does: as 17000000005 ms, in 1970.
  constexpr std::size_t kSecondsDigits = 10;
  constexpr std::size_t kWithMs = kSecondsDigits + 4;
  if (text.find('.') == kSecondsDigits && text.size() != kWithMs) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{}: \"{}\" needs three digits behind the dot", flag, text));
  }
  auto time = query::parse_time(text, {.now = SystemClock().now_ms(), .timezone = {}});
  if (!time) return fail(Errc::kInvalidArgument, fmt::format("{}: {}", flag, time.error().message));
  if (text.contains('/') && !is_date(text, *time)) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("{}: \"{}\" is no date: write YYYY/MM/DD or YYYY/MM/DD-HH:MM:SS", flag, text));
  }
  return time;
}

// Whether it is a selector of PromQL, which would name other series, or none: m{h!="a"}, m{h=~"a"}.
bool is_promql(const query::MetricAndFilters& parsed) {
  using storage::FilterType;
  return parsed.metric.empty() ||
         std::ranges::any_of(parsed.filters, [](const query::Filter& filter) {
           const auto& [type, key, pattern] = filter.filter;
           const bool quoted = pattern.starts_with('"') || pattern.starts_with("~\"");
           return key.ends_with('!') || (quoted && type != FilterType::kRegexp);
         });
}

std::unexpected<Error> refuse_match(std::string_view text, std::string_view why) {
  return fail(Errc::kInvalidArgument,
              fmt::format("--match: \"{}\": {}; write METRIC or METRIC{{TAG=FILTER,...}}, where "
                          "FILTER is h1, h1|h2, web*, not_literal_or(h1) or regexp(^web)",
                          text, why));
}

}  // namespace

Result<std::vector<SourceMatch>> parse_matches(const std::vector<std::string>& texts) {
  const storage::Regexps regexps;
  std::vector<SourceMatch> matches;
  for (const std::string& text : texts) {
    auto parsed = query::parse_metric(text, regexps);
    if (!parsed) return refuse_match(text, parsed.error().message);
    if (is_promql(*parsed)) return refuse_match(text, "PromQL does not work here");
    SourceMatch match{.metric = std::move(parsed->metric), .filters = {}};
    for (query::Filter& filter : parsed->filters) match.filters.push_back(std::move(filter.filter));
    matches.push_back(std::move(match));
  }
  return matches;
}

std::int64_t span_of(const Options& options) {
  return options.store == StoreKind::kEngine ? options.layout.span_ms : kHourMs;
}

std::string describe_source(const Options& options, const SourceFlags& flags) {
  std::string text = flags.url.empty() ? store_text(options) : flags.url;
  for (const std::string& match : flags.match) text += fmt::format(" match {}", match);
  if (!flags.start.empty()) text += fmt::format(" start {}", flags.start);
  if (!flags.end.empty()) text += fmt::format(" end {}", flags.end);
  return text;
}

Result<OpenedSource> open_source(const Options& options, const SourceFlags& flags) {
  OpenedSource opened;
  TRY(std::vector<SourceMatch> matches, parse_matches(flags.match));
  TRY(opened.range.begin, parse_edge("--start", flags.start, 0));
  TRY(opened.range.end, parse_edge("--end", flags.end, query::kTimeEnd));
  if (opened.range.begin >= opened.range.end) {
    return fail(Errc::kInvalidArgument, "--start is not before --end");
  }
  if (flags.url.empty()) {
    TRY(opened.data, OpenedData::open(options, DataUse::kRead));
    opened.source = std::make_unique<StoreSource>(opened.data->stores().points(),
                                                  std::move(matches), span_of(options));
    return opened;
  }
  if (flags.start.empty()) {
    return fail(Errc::kInvalidArgument,
                "a server does not say when its points begin: give the time by --start");
  }
  TRY(Peer peer, make_peer(flags.url, flags.peer));
  TRY(opened.source, open_server_source(std::move(peer), std::move(matches)));
  opened.range.begin = std::max(opened.range.begin, kServerTimeMin);
  // Not the end of time: servers limit how far it may be ahead.
  if (flags.end.empty()) opened.range.end = SystemClock().now_ms() + kHourMs;
  return opened;
}

}  // namespace halite::app
