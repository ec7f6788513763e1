#include "query/scan/fetch_limits.h"

#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>
#include <simdjson.h>

#include "common/json/json_fault.h"
#include "common/log.h"

namespace halite::query {

struct FetchOverride {
  std::shared_ptr<const re2::RE2> metrics;
  std::uint64_t points_max = 0;
  std::uint64_t bytes_max = 0;
};

namespace {

namespace dom = simdjson::dom;

std::unexpected<Error> refuse(const std::string& path, std::string_view why) {
  return fail(Errc::kInvalidArgument, fmt::format("{} (query.fetch_overrides): {}", path, why));
}

Result<std::uint64_t> read_limit(const std::string& path, dom::object object,
                                 std::string_view name) {
  const auto field = object[name];
  if (field.error() == simdjson::NO_SUCH_FIELD) return 0;
  std::uint64_t limit = 0;
  if (field.get(limit) != simdjson::SUCCESS) {
    return refuse(path, fmt::format("{} is not a whole number of 0 or more", name));
  }
  return limit;
}

Result<FetchOverride> read_override(const std::string& path, dom::element element) {
  dom::object object;
  std::string_view regex;
  if (element.get(object) != simdjson::SUCCESS || object["regex"].get(regex) != simdjson::SUCCESS) {
    return refuse(path, R"(wanted [{"regex":"..","byteLimit":n,"dataPointsLimit":n},..])");
  }
  FetchOverride one;
  re2::RE2::Options options;
  options.set_log_errors(false);
  one.metrics = std::make_shared<const re2::RE2>(std::string(regex), options);
  if (!one.metrics->ok()) {
    return refuse(path, fmt::format("\"{}\": {}", regex, one.metrics->error()));
  }
  TRY(one.points_max, read_limit(path, object, "dataPointsLimit"));
  TRY(one.bytes_max, read_limit(path, object, "byteLimit"));
  return one;
}

}  // namespace

FetchLimits::FetchLimits(FetchLimitOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

FetchLimits::~FetchLimits() = default;

Result<void> FetchLimits::check(const FetchLimitOptions& options) {
  if (options.overrides.empty()) return {};
  const auto overrides = read(options.overrides);
  if (!overrides) return std::unexpected(overrides.error());
  return {};
}

Result<std::shared_ptr<const FetchLimits::Overrides>> FetchLimits::read(const std::string& path) {
  dom::parser parser;
  dom::element root;
  dom::array list;
  if (const auto error = parser.load(path).get(root); error) {
    return refuse(path, json_fault(error));
  }
  if (root.get(list) != simdjson::SUCCESS) return refuse(path, "expected a JSON array");
  auto overrides = std::make_shared<Overrides>();
  for (const dom::element element : list) {
    TRY(FetchOverride one, read_override(path, element));
    overrides->push_back(std::move(one));
  }
  return overrides;
}

std::shared_ptr<const FetchLimits::Overrides> FetchLimits::overrides() {
  if (options_.overrides.empty()) return nullptr;
  const TimestampMs now = clock_.now_ms();
  const std::lock_guard lock(mutex_);
  if (overrides_ != nullptr && now - read_at_ < options_.overrides_interval_ms) return overrides_;
  read_at_ = now;
  auto fresh = read(options_.overrides);
  if (fresh) {
    overrides_ = std::move(*fresh);
  } else {
    log::warn("{}; the previous limits stay in use", fresh.error().message);
  }
  return overrides_;
}

FetchLimit FetchLimits::of(std::string_view metric, bool set_points_aside, bool set_bytes_aside) {
  FetchLimit limit{.points_max = options_.points_max,
                   .bytes_max = options_.bytes_max,
                   .free_rows = options_.free_rows};
  const re2::StringPiece name(metric.data(), metric.size());
  if (const auto all = overrides()) {
    for (const FetchOverride& one : *all) {
      if (!re2::RE2::PartialMatch(name, *one.metrics)) continue;
      limit.points_max = one.points_max;
      limit.bytes_max = one.bytes_max;
      break;
    }
  }
  if (set_points_aside && options_.points_override) limit.points_max = 0;
  if (set_bytes_aside && options_.bytes_override) limit.bytes_max = 0;
  return limit;
}

Result<void> FetchMeter::add(const Amount& amount) {
  const std::uint64_t points = points_ += amount.points;
  const std::uint64_t rows = rows_ += amount.rows;
  const std::uint64_t bytes = bytes_ += amount.bytes;
  if (rows <= limit_.free_rows) return {};
  if (limit_.points_max != 0 && points > limit_.points_max) {
    return fail(Errc::kTooLarge,
                fmt::format("Sorry, you have attempted to fetch more than our limit of {} data "
                            "points. Please try filtering using more tags or decrease your time "
                            "range.",
                            limit_.points_max));
  }
  if (limit_.bytes_max != 0 && bytes > limit_.bytes_max) {
    return fail(Errc::kTooLarge,
                fmt::format("Sorry, you have attempted to fetch more than our maximum amount of "
                            "{}MB from storage. Please try filtering using more tags or decrease "
                            "your time range.",
                            limit_.bytes_max >> 20));
  }
  return {};
}

void FetchMeter::go_back(const Amount& amount) {
  points_ = amount.points;
  rows_ = amount.rows;
  bytes_ = amount.bytes;
}

}  // namespace halite::query
