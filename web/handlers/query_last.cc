// GET, POST /api/query/last: the newest point of each series.
//
// GET         timeseries=<metric>{k=v,..} and tsuids=A,B, both repeatable; resolve (names and tags
//             in the answer); back_scan=<hours>
// POST        {"queries":[{"metric","tags"} | {"tsuids":[..]}],"resolveNames":bool,"backScan":int}
// back_scan   > 0: this hour and so many before it, of the series with exactly these tags.
//             0: the whole history, of every series that has these tags among others; without
//             web.last_whole_history only this hour, and only for tsuids
// Answer      200 [{"metric","timestamp":<ms>,"value":"<text>","tags","tsuid"},..]; a series
//             without a point there is omitted
// Errors      400 an empty query, an invalid number, an unknown name (with
//             query.skip_unknown_values an unknown tag value matches no series); a timeseries
//             without its brace (500 with --opentsdb-conf)
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "common/java/java_double.h"
#include "common/json_string.h"
#include "common/units.h"
#include "query/engine/engine.h"
#include "query/query_budget.h"
#include "storage/api/point_store.h"
#include "web/handlers/handlers.h"
#include "web/handlers/query_errors.h"
#include "web/json/json_in.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::int64_t kBackScanHoursMax = 24 * 366 * 200;

using Sub = LastBody::Sub;

struct LastQuery {
  std::vector<Sub> subs;
  bool resolve = false;
  std::int64_t back_scan_hours = 0;
};

Result<std::int64_t> parse_hours(std::string_view text) {
  std::int64_t value = 0;
  if (!read_number(text, value)) {
    return fail(Errc::kInvalidArgument, "Unable to parse back_scan parameter");
  }
  return std::clamp<std::int64_t>(value, 0, kBackScanHoursMax);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<void> add_sub_tag(std::string_view tag, Sub& sub) {
  const std::size_t equals = tag.find('=');
  const std::string_view key = tag.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : tag.substr(equals + 1);
  if (key.empty() || value.empty() || value.find('=') != std::string_view::npos) {
    return fail(Errc::kInternal, fmt::format("When parsing tag '{0}': invalid tag: {0}", tag));
  }
  sub.tags[std::string(key)] = value;
  return {};
}

// "metric" or "metric{k=v,..}".
Result<Sub> parse_series(std::string_view text) {
  Sub sub;
  const std::size_t brace = text.find('{');
  sub.metric = text.substr(0, brace);
  if (brace == std::string_view::npos) return sub;
  if (text.back() != '}') {
    return fail(Errc::kInternal, fmt::format("Missing '}}' at the end of: {}", text));
  }
  const std::string_view tags = text.substr(brace + 1, text.size() - brace - 2);
  if (tags.empty()) return sub;
  for (const std::string_view tag : split(tags, ',')) TRY_VOID(add_sub_tag(tag, sub));
  return sub;
}

Result<LastQuery> parse_last_uri(const Target& target) {
  LastQuery wanted;
  wanted.resolve = target.has("resolve");
  if (const std::string* hours = target.find("back_scan")) {
    TRY(wanted.back_scan_hours, parse_hours(*hours));
  }
  for (const auto& [name, value] : target.parameters) {
    if (name != "timeseries") continue;
    TRY(Sub sub, parse_series(value));
    wanted.subs.push_back(std::move(sub));
  }
  for (const auto& [name, value] : target.parameters) {
    if (name != "tsuids") continue;
    Sub sub;
    for (const std::string_view tsuid : split(value, ',')) sub.tsuids.emplace_back(tsuid);
    wanted.subs.push_back(std::move(sub));
  }
  return wanted;
}

Result<LastQuery> parse_last_request(const Call& call) {
  LastQuery wanted;
  if (call.request.method == "POST") {
    TRY(LastBody body, parse_last_body(call.request.body));
    wanted.subs = std::move(body.subs);
    wanted.resolve = body.resolve;
    wanted.back_scan_hours = std::clamp<std::int64_t>(body.back_scan, 0, kBackScanHoursMax);
  } else {
    TRY(wanted, parse_last_uri(call.target));
  }
  if (wanted.subs.empty()) return fail(Errc::kInvalidArgument, "Missing sub queries");
  return wanted;
}

Result<storage::SeriesQuery> by_tsuids(const std::vector<std::string>& texts) {
  storage::SeriesQuery query;
  for (const std::string& text : texts) {
    const std::string even = text.size() % 2 == 0 ? text : "0" + text;
    Result<Bytes> tsuid = from_hex(even);
    if (!tsuid) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("contains illegal character for hexBinary: {}", even));
    }
    query.tsuids.push_back(*std::move(tsuid));
  }
  return query;
}

// A value with a '|' is not a name: a filter would read it as two.
bool names_two_values(const std::pair<const std::string, std::string>& tag) {
  return tag.second.contains('|');
}

Result<storage::SeriesQuery> by_name(const Sub& sub, bool exactly) {
  if (sub.metric.empty()) {
    return fail(Errc::kInvalidArgument, "Metric cannot be null or empty");
  }
  if (exactly && sub.tags.empty()) {
    return fail(Errc::kInvalidArgument, "Tags cannot be null or empty when getting a TSUID");
  }
  storage::SeriesQuery query;
  query.metric = sub.metric;
  query.explicit_tags = exactly;
  for (const auto& tag : sub.tags) {
    if (names_two_values(tag)) {
      return fail(Errc::kNotFound, fmt::format("No such name for 'tagv': '{}'", tag.second));
    }
    query.filters.push_back({storage::FilterType::kLiteralOr, tag.first, tag.second});
  }
  return query;
}

// The hours to search; an empty range for none.
TimeRange hours_of(const Call& call, const LastQuery& wanted, bool by_tsuid) {
  const TimestampMs now = call.services.clock.now_ms();
  const TimestampMs hour = now - now % kHourMs;
  if (wanted.back_scan_hours > 0) {
    return {hour - wanted.back_scan_hours * kHourMs, hour + kHourMs};
  }
  if (call.options.last_whole_history) return {0, hour + kHourMs};
  return by_tsuid ? TimeRange{hour, hour + kHourMs} : TimeRange{hour, hour};
}

Task<storage::PinnedLastPoints> last_points_of_sub(const Call& call, const LastQuery& wanted,
                                                   std::size_t index,
                                                   std::shared_ptr<query::QueryBudget> budget) {
  const Sub& sub = wanted.subs[index];
  const bool by_tsuid = !sub.tsuids.empty();
  const bool skip_unknown = call.services.engine.skips_unknown_values();
  Result<storage::SeriesQuery> query =
      by_tsuid ? by_tsuids(sub.tsuids) : by_name(sub, wanted.back_scan_hours > 0);
  if (!query) {
    const bool unknown = query.error().code == Errc::kNotFound;
    if (unknown && skip_unknown) co_return storage::PinnedLastPoints();
    co_return std::unexpected(query.error());
  }
  query->skip_unknown_values = skip_unknown;
  auto selecting = call.services.store.select(*std::move(query), {.budget = std::move(budget)});
  Result<std::shared_ptr<const storage::Selection>> selection = co_await std::move(selecting);
  if (!selection) {
    const bool none = by_tsuid && selection.error().code == Errc::kNotFound;
    if (none) co_return storage::PinnedLastPoints();
    co_return std::unexpected(selection.error());
  }
  const TimeRange range = hours_of(call, wanted, by_tsuid);
  if (range.begin == range.end) co_return storage::PinnedLastPoints();
  co_return co_await call.services.store.last(std::move(*selection), range);
}

constexpr std::array<std::array<char, 2>, 256> kHexOfByte = [] {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::array<std::array<char, 2>, 256> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte) {
    all[byte] = {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return all;
}();

char* put_hex(char* to, BytesView bytes) {
  for (const char c : bytes) {
    std::memcpy(to, kHexOfByte[static_cast<unsigned char>(c)].data(), 2);
    to += 2;
  }
  return to;
}

char* put_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

void append_names(std::string& json, const storage::Series& series) {
  json += ",\"tags\":{";
  for (std::size_t i = 0; i < series.tags.size(); ++i) {
    if (i != 0) json += ',';
    append_json_string(json, series.tags[i].key);
    json += ':';
    append_json_string(json, series.tags[i].value);
  }
  json += '}';
}

// "timestamp":1356998400000,"value":"42"
void append_time_and_value(std::string& json, const storage::LastPoint& point) {
  constexpr std::string_view kTime = "\"timestamp\":";
  constexpr std::string_view kValue = ",\"value\":\"";
  constexpr std::size_t kNumberBytes = 24;
  const std::size_t before = json.size();
  const std::size_t most = before + kTime.size() + kValue.size() + 2 * kNumberBytes;
  json.resize_and_overwrite(most, [&](char* text, std::size_t) {
    char* to = put_text(text + before, kTime);
    to = std::to_chars(to, to + kNumberBytes, point.time).ptr;
    to = put_text(to, kValue);
    if (!point.is_float) to = std::to_chars(to, to + kNumberBytes, as_integer(point.value)).ptr;
    return static_cast<std::size_t>(to - text);
  });
  if (point.is_float) append_java_double(json, as_double(point.value));
  json += '"';
}

// ,"tsuid":"0000010000020000AB"}
void append_tsuid(std::string& json, const storage::Tsuid& tsuid) {
  constexpr std::string_view kTsuid = ",\"tsuid\":\"";
  constexpr std::string_view kEnd = "\"}";
  const std::size_t before = json.size();
  const std::size_t after = before + kTsuid.size() + 2 * tsuid.size() + kEnd.size();
  json.resize_and_overwrite(after, [&](char* text, std::size_t) {
    char* to = put_text(text + before, kTsuid);
    to = put_hex(to, tsuid.metric());
    to = put_hex(to, tsuid.tags());
    put_text(to, kEnd);
    return after;  // the argument may own all of this memory
  });
}

void append_point(std::string& json, const storage::Series& series, const storage::LastPoint& point,
                  bool resolve) {
  json += '{';
  if (resolve) {
    json += "\"metric\":";
    append_json_string(json, series.metric);
    json += ',';
  }
  append_time_and_value(json, point);
  if (resolve) append_names(json, series);
  append_tsuid(json, series.tsuid);
}

// Writes the answer in pieces: for many series it takes megabytes.
class LastSource final : public BodySource {
 public:
  LastSource(const storage::PointStore& store, storage::PinnedLastPoints points, bool resolve)
      : store_(store), points_(std::move(points)), resolve_(resolve) {}

  bool next(std::string& to) override {
    if (finished_) return false;
    const std::size_t enough = to.size() + kPieceBytes;
    to.reserve(enough + kPointBytes);
    if (at_ == 0) to += '[';
    for (; at_ < points_.size() && to.size() < enough; ++at_) {
      if (at_ != 0) to += ',';
      append_point(to, series_ahead(), points_[at_], resolve_);
    }
    finished_ = at_ == points_.size();
    if (finished_) to += ']';
    return true;
  }

 private:
  static constexpr std::size_t kPieceBytes = 64 << 10;
  static constexpr std::size_t kPointBytes = 4 << 10;  // larger than nearly all
  static constexpr std::size_t kAhead = 8;
  static constexpr std::size_t kTagSetLines = 3;  // cache lines; for ten tags

  // Series and their tags are in different places: prefetches those that follow.
  const storage::Series& series_ahead() const {
    if (at_ + 2 * kAhead < points_.size()) {
      __builtin_prefetch(&store_.series(points_[at_ + 2 * kAhead].series));
    }
    if (at_ + kAhead < points_.size()) {
      const auto* const set =
          reinterpret_cast<const char*>(&store_.series(points_[at_ + kAhead].series).tags.set());
      for (std::size_t line = 0; line < kTagSetLines; ++line) __builtin_prefetch(set + line * 64);
    }
    return store_.series(points_[at_].series);
  }

  const storage::PointStore& store_;
  const storage::PinnedLastPoints points_;
  const bool resolve_;
  std::size_t at_ = 0;  // index of the next of points_
  bool finished_ = false;
};

}  // namespace

asio::awaitable<Response> handle_query_last(Call& call) {
  const Result<LastQuery> wanted = parse_last_request(call);
  if (!wanted) co_return question_error(call, wanted.error());
  const auto budget = std::make_shared<query::QueryBudget>(call.services.engine.limits(),
                                                           call.services.clock, call.stop);
  const auto executor = co_await asio::this_coro::executor;
  storage::PinnedLastPoints all;
  for (std::size_t i = 0; i < wanted->subs.size(); ++i) {
    // Points in memory are found without waiting, and a body may name thousands. Let other work of
    // this event loop run in between.
    if (i != 0) co_await asio::post(executor, asio::use_awaitable);
    Result<storage::PinnedLastPoints> points =
        co_await last_points_of_sub(call, *wanted, i, budget);
    if (!points) co_return query_run_error(call, points.error());
    all.append(*std::move(points));
  }
  // The series has ended.
  all.erase_if([](const storage::LastPoint& point) {
    return point.is_float && point.value == kStaleMarker;
  });
  Response response;
  response.source =
      std::make_unique<LastSource>(call.services.store, std::move(all), wanted->resolve);
  co_return response;
}

}  // namespace halite::web
