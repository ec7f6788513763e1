// A question as plain data, whatever syntax it came in. Ranges inside are [begin, end): OpenTSDB's
// inclusive end becomes ours in question_uri.cc and question_json.cc.
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
  std::string text;              // as asked: "1m-avg-nan"
  std::int64_t interval_ms = 0;  // a calendar's month counts 30 days here; 0 = `all`
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
  std::int64_t reset_value = 0;  // 0 = no such test
  bool drop_resets = false;
  bool options_given = false;  // the asker wrote options, if only the default ones
  bool operator==(const RateSpec&) const = default;
};

struct Filter {
  storage::TagFilter filter;
  bool group_by = false;
  // A pattern alone ("web*", not "iwildcard(web*)"): it matches in any case, and is shown as a
  // `wildcard`, as in OpenTSDB.
  bool bare_pattern = false;
  bool operator==(const Filter&) const = default;
};

// Which data a question with a downsampler may be answered from, where rollups are kept.
enum class RollupUsage : std::uint8_t {
  kRaw,          // points only
  kNoFallback,   // the coarsest rollup that fits
  kFallback,     // the same; where it has nothing, the next finer one, and at last points
  kFallbackRaw,  // the same; where it has nothing, points
};

struct SubQuestion {
  std::string aggregator;
  std::string metric;  // empty when tsuids are given
  std::vector<Bytes> tsuids;
  std::vector<std::string> tsuid_texts;  // the same as asked: for the echo
  std::vector<Filter> filters;
  bool explicit_tags = false;
  std::optional<DownsampleSpec> downsample;
  std::optional<RateSpec> rate;
  std::optional<RateSpec> rate_options;  // as given, with or without `rate`: for the echo
  // Either one asks for histograms instead of points.
  std::vector<float> percentiles;  // 0 to 100
  bool show_histogram_buckets = false;
  // Without meaning here, but echoed.
  bool use_fuzzy_filter = true;
  bool use_multi_gets = true;
  bool pre_aggregate = false;               // from the tables of pre-aggregates
  std::optional<RollupUsage> rollup_usage;  // not given: kNoFallback
  std::string rollup_table = "raw";         // the interval it was answered from; the engine's
  bool operator==(const SubQuestion&) const = default;

  [[nodiscard]] bool wants_histograms() const {
    return !percentiles.empty() || show_histogram_buckets;
  }
};

struct Question {
  TimestampMs begin = 0;  // first millisecond asked
  TimestampMs end = 0;    // last millisecond asked + 1
  std::string timezone;   // of calendar downsampling, as asked; empty = UTC
  std::vector<SubQuestion> queries;
  bool ms_resolution = false;
  bool arrays = false;
  bool show_query = false;
  bool show_tsuids = false;
  bool show_stats = false;
  bool show_summary = false;
  bool no_annotations = false;
  bool global_annotations = false;
  bool delete_points = false;
  // Sets the limits of FetchLimitOptions aside where they allow it.
  bool override_point_limit = false;
  bool override_byte_limit = false;
  bool whole_scan = false;  // answer also the points that were read around the range asked
};

}  // namespace halite::query
