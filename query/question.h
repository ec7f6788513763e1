// A query as plain data, independent of its syntax. Ranges are [begin, end): question_uri.cc and
// question_json.cc convert OpenTSDB's inclusive end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "storage/api/point_store.h"

namespace halite::query {

enum class FillPolicy : std::uint8_t { kNone, kNan, kNull, kZero, kScalar };

struct DownsampleSpec {
  std::string text;              // as written: "1m-avg-nan"
  std::int64_t interval_ms = 0;  // a calendar month counts 30 days here; 0 = `all`
  std::int32_t interval = 0;     // the number before the unit
  std::string unit;              // "ms" "s" "m" "h" "d" "w" "n" "y"
  bool calendar = false;
  bool all = false;      // one bucket for the whole range
  std::string function;  // an aggregator's name
  FillPolicy fill = FillPolicy::kNone;
  double fill_scalar = 0;
  bool operator==(const DownsampleSpec&) const = default;
};

struct RateSpec {
  bool counter = false;
  std::int64_t counter_max = INT64_MAX;
  std::int64_t reset_value = 0;  // 0 = not used
  bool drop_resets = false;
  bool options_given = false;  // the query contains options, even if all are defaults
  bool operator==(const RateSpec&) const = default;
};

struct Filter {
  storage::TagFilter filter;
  bool group_by = false;
  // A pattern without a type ("web*", not "iwildcard(web*)"). As in OpenTSDB, it ignores case, and
  // answers show it as a `wildcard`.
  bool bare_pattern = false;
  bool operator==(const Filter&) const = default;
};

// The data that may answer a query with a downsampler if rollups are kept.
enum class RollupUsage : std::uint8_t {
  kRaw,          // points only
  kNoFallback,   // the coarsest rollup that fits
  kFallback,     // as kNoFallback; without data, the next finer rollup, and last the points
  kFallbackRaw,  // as kNoFallback; without data, the points
};

struct SubQuestion {
  std::string aggregator;
  std::string metric;  // empty if tsuids are given
  std::vector<Bytes> tsuids;
  std::vector<std::string> tsuid_texts;  // tsuids as written, for the echo
  std::vector<Filter> filters;
  bool explicit_tags = false;
  std::optional<DownsampleSpec> downsample;
  std::optional<RateSpec> rate;
  std::optional<RateSpec> rate_options;  // as written, with or without `rate`: for the echo
  // If either is set, the query reads histograms instead of points.
  std::vector<float> percentiles;  // 0 to 100
  bool show_histogram_buckets = false;
  // Not used, only echoed.
  bool use_fuzzy_filter = true;
  bool use_multi_gets = true;
  bool pre_aggregate = false;               // read the tables of pre-aggregates
  std::optional<RollupUsage> rollup_usage;  // not set: kNoFallback
  std::string rollup_table = "raw";         // the interval of the data read; set by the engine
  std::string view;                         // the view that answered; set by the engine
  bool approximate = false;                 // by sketches of the view; set by the engine
  bool operator==(const SubQuestion&) const = default;

  [[nodiscard]] bool wants_histograms() const {
    return !percentiles.empty() || show_histogram_buckets;
  }
};

struct Question {
  TimestampMs begin = 0;  // first millisecond of the query
  TimestampMs end = 0;    // last millisecond of the query + 1
  std::string timezone;   // for calendar downsampling, as written; empty = UTC
  std::vector<SubQuestion> queries;
  bool ms_resolution = false;
  bool arrays = false;
  bool show_query = false;
  bool show_tsuids = false;
  bool show_stats = false;
  bool show_summary = false;
  bool use_views = true;           // read views instead of points where the answer is the same
  bool approximate_views = false;  // and where it is a percentile with a relative error of 1 %
  bool no_annotations = false;
  bool global_annotations = false;
  bool delete_points = false;
  // Ignores the limits of FetchLimitOptions if they allow it.
  bool override_point_limit = false;
  bool override_byte_limit = false;
  bool whole_scan = false;  // answer also the points read outside the time range
  // With the aggregator `none`, and neither a downsampler nor a rate: answer infinities and
  // staleness markers too, and each point with its own type.
  bool as_stored = false;
  bool with_ids = false;  // answer also the ids of tags and series: expressions join by them

  [[nodiscard]] bool answers_as_stored(const SubQuestion& sub) const {
    return as_stored && sub.aggregator == "none" && !sub.rate && !sub.downsample;
  }
};

}  // namespace halite::query
