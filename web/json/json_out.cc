#include "web/json/json_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "common/bytes/bytes.h"
#include "common/java/java_double.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "common/sketch.h"
#include "query/parse/filter_text.h"
#include "web/query_stats.h"

namespace halite::web {

namespace {

constexpr std::size_t kAnswerPieceBytes = 64 << 10;
// A point's brackets, quotes and commas, its timestamp and its value: a double is the longest.
constexpr std::size_t kPointBytesMax = 8 + TimeText::kBytesMax + kJavaDoubleBytesMax;

void append_bool(std::string& to, bool value) { to += value ? "true" : "false"; }

void append_text_or_null(std::string& to, std::string_view text) {
  if (text.empty()) {
    to += "null";
  } else {
    append_json_string(to, text);
  }
}

void append_filters(std::string& to, const query::SubQuestion& sub) {
  append_json_list(to, sub.filters, [&to](const query::Filter& filter) {
    to += "{\"tagk\":";
    append_json_string(to, filter.filter.key);
    to += ",\"filter\":";
    append_json_string(to, filter.filter.pattern);
    to += ",\"group_by\":";
    append_bool(to, filter.group_by);
    to += ",\"type\":";
    append_json_string(to, query::shown_type(filter));
    to += '}';
  });
}

// Only filters with group-by: {"host":"wildcard(*)"}
void append_group_tags(std::string& to, const query::SubQuestion& sub) {
  to += '{';
  for (const query::Filter& filter : sub.filters) {
    if (!filter.group_by) continue;
    if (to.back() != '{') to += ',';
    append_json_string(to, filter.filter.key);
    to += ':';
    append_json_string(to, fmt::format("{}({})", query::shown_type(filter), filter.filter.pattern));
  }
  to += '}';
}

void append_percentiles(std::string& to, const query::SubQuestion& sub) {
  if (sub.percentiles.empty()) {
    to += "null";
    return;
  }
  append_json_list(to, sub.percentiles, [&to](float one) { to += java_float(one); });
}

std::string_view usage_name(std::optional<query::RollupUsage> usage) {
  if (!usage) return {};
  switch (*usage) {
    case query::RollupUsage::kRaw:
      return "ROLLUP_RAW";
    case query::RollupUsage::kNoFallback:
      return "ROLLUP_NOFALLBACK";
    case query::RollupUsage::kFallback:
      return "ROLLUP_FALLBACK";
    case query::RollupUsage::kFallbackRaw:
      break;
  }
  return "ROLLUP_FALLBACK_RAW";
}

void append_rate_options(std::string& to, const query::SubQuestion& sub) {
  if (!sub.rate_options) {
    to += "null";
    return;
  }
  const query::RateSpec& options = *sub.rate_options;
  fmt::format_to(std::back_inserter(to),
                 "{{\"counter\":{},\"counterMax\":{},\"resetValue\":{},\"dropResets\":{}}}",
                 options.counter, options.counter_max, options.reset_value, options.drop_resets);
}

void append_tsuids(std::string& to, const std::vector<Bytes>& tsuids) {
  append_json_list(to, tsuids, [&to](const Bytes& one) { append_json_string(to, to_hex(one)); });
}

void append_annotations(std::string& to, const std::vector<storage::Annotation>& notes) {
  append_json_list(to, notes, [&to](const auto& note) { storage::append_shown_json(to, note); });
}

std::uint64_t nans_of(const query::AnswerSeries& series) {
  std::uint64_t nans = 0;
  for (std::size_t i = 0; i < series.times.size(); ++i) {
    nans += series.floats[i] && std::isnan(as_double(series.values[i]));
  }
  return nans;
}

void append_summary(std::string& to, const query::Answer& answer) {
  std::vector<QueryStats> parts(answer.question.queries.size());
  QueryStats all{.cost = answer.cost, .emitted = answer.cost.points_out, .nans = 0};
  for (QueryStats& part : parts) part.cost.wall_ms = answer.cost.wall_ms;
  for (const query::AnswerSeries& series : answer.series) {
    const std::uint64_t nans = nans_of(series);
    parts[series.query_index].emitted += series.times.size();
    parts[series.query_index].nans += nans;
    all.nans += nans;
  }
  to += "{\"statsSummary\":{";
  append_query_stats(to, all);
  to += ",\"halite\":";
  append_query_cost(to, answer.cost);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    fmt::format_to(std::back_inserter(to), ",\"queryIdx_{:02}\":{{\"queryIndex\":{},", i, i);
    append_query_stats(to, parts[i]);
    const std::string& view = answer.question.queries[i].view;
    if (!view.empty()) {
      to += ",\"view\":";
      append_json_string(to, view);
      if (answer.question.queries[i].approximate) append_accuracy(to);
    }
    to += ",\"scannerStats\":{}}";
  }
  to += "}}";
}

}  // namespace

void append_accuracy(std::string& to) {
  fmt::format_to(std::back_inserter(to), R"(,"accuracy":"approximate, {:g} %")",
                 Sketch::kRelativeError * 100);
}

void append_query_echo(std::string& to, const query::SubQuestion& sub, std::size_t index) {
  to += "{\"aggregator\":";
  append_json_string(to, sub.aggregator);
  to += ",\"metric\":";
  append_text_or_null(to, sub.metric);
  to += ",\"tsuids\":";
  if (sub.tsuid_texts.empty()) {
    to += "null";
  } else {
    append_json_texts(to, sub.tsuid_texts);
  }
  to += ",\"downsample\":";
  append_text_or_null(to, sub.downsample ? sub.downsample->text : std::string());
  to += ",\"rate\":";
  append_bool(to, sub.rate.has_value());
  to += ",\"filters\":";
  append_filters(to, sub);
  to += ",\"percentiles\":";
  append_percentiles(to, sub);
  fmt::format_to(std::back_inserter(to), ",\"index\":{},\"rateOptions\":", index);
  append_rate_options(to, sub);
  to += ",\"filterTagKs\":null,\"explicitTags\":";
  append_bool(to, sub.explicit_tags);
  to += ",\"useFuzzyFilter\":";
  append_bool(to, sub.use_fuzzy_filter);
  to += ",\"preAggregate\":";
  append_bool(to, sub.pre_aggregate);
  to += ",\"rollupUsage\":";
  append_text_or_null(to, usage_name(sub.rollup_usage));
  to += ",\"rollupTable\":";
  append_json_string(to, sub.rollup_table);
  to += ",\"showHistogramBuckets\":";
  append_bool(to, sub.show_histogram_buckets);
  to += ",\"useMultiGets\":";
  append_bool(to, sub.use_multi_gets);
  to += ",\"tags\":";
  append_group_tags(to, sub);
  to += ",\"histogramQuery\":";
  append_bool(to, sub.wants_histograms());
  to += '}';
}

AnswerSource::AnswerSource(std::shared_ptr<const query::Answer> answer, AnswerFormat format)
    : answer_(std::move(answer)), format_(format) {}

bool AnswerSource::next(std::string& to) {
  if (finished_) return false;
  const std::size_t enough = to.size() + kAnswerPieceBytes;
  if (!started_) {
    to += '[';
    started_ = true;
  }
  while (series_ < answer_->series.size() && to.size() < enough) {
    if (!in_series_) begin_series(to);
    some_points(to);
    if (point_ == answer_->series[series_].times.size()) end_series(to);
  }
  if (series_ == answer_->series.size()) {
    if (answer_->question.show_summary) {
      if (series_ != 0) to += ',';
      append_summary(to, *answer_);
    }
    to += ']';
    finished_ = true;
  }
  return true;
}

void AnswerSource::begin_series(std::string& to) {
  const query::Question& question = answer_->question;
  const query::AnswerSeries& series = answer_->series[series_];
  if (series_ != 0) to += ',';
  to += "{\"metric\":";
  append_json_string(to, series.metric);
  to += ",\"tags\":{";
  for (const auto& [key, value] : series.tags) {
    if (to.back() != '{') to += ',';
    append_json_string(to, key);
    to += ':';
    append_json_string(to, value);
  }
  to += "},\"aggregateTags\":";
  append_json_texts(to, series.aggregate_tags);
  if (question.show_query) {
    to += ",\"query\":";
    append_query_echo(to, question.queries[series.query_index], series.query_index);
  }
  if (question.show_tsuids) {
    to += ",\"tsuids\":";
    append_tsuids(to, series.tsuids);
  }
  if (series.has_annotations) {
    to += ",\"annotations\":";
    append_annotations(to, series.annotations);
  }
  if (!answer_->global_annotations.empty() && (series_ == 0 || !format_.globals_once)) {
    to += ",\"globalAnnotations\":";
    append_annotations(to, answer_->global_annotations);
  }
  to += question.arrays ? ",\"dps\":[" : ",\"dps\":{";
  in_series_ = true;
  any_point_ = false;
  point_ = 0;
}

void AnswerSource::some_points(std::string& to) {
  const query::AnswerSeries& series = answer_->series[series_];
  const std::size_t enough = to.size() + kAnswerPieceBytes;
  while (point_ < series.times.size() && to.size() < enough) point(to, series, point_++);
}

// Writes pieces into a small buffer: the cost of a point should be that of its digits.
void AnswerSource::point(std::string& to, const query::AnswerSeries& series, std::size_t i) {
  const query::Question& question = answer_->question;
  if (format_.plain_numbers && series.floats[i] && !std::isfinite(as_double(series.values[i]))) {
    return;
  }
  std::array<char, kPointBytesMax> text;
  char* end = text.data();
  if (any_point_) *end++ = ',';
  any_point_ = true;
  *end++ = question.arrays ? '[' : '"';
  end = times_.write(end, question.ms_resolution ? series.times[i] : series.times[i] / 1000);
  if (!question.arrays) *end++ = '"';
  *end++ = question.arrays ? ',' : ':';
  end = write_value(end, series, i);
  if (question.arrays) *end++ = ']';
  to.append(text.data(), end);
}

char* AnswerSource::write_value(char* to, const query::AnswerSeries& series, std::size_t i) const {
  if (!series.floats[i]) {
    const fmt::format_int text(as_integer(series.values[i]));
    return std::copy(text.data(), text.data() + text.size(), to);
  }
  const double value = as_double(series.values[i]);
  if (std::isfinite(value)) return write_java_double(to, value);
  const query::SubQuestion& sub = answer_->question.queries[series.query_index];
  if (std::isnan(value) && answer_->question.answers_as_stored(sub)) {
    return fmt::format_to(to, "\"NaN:{:016X}\"", series.values[i]);
  }
  const auto& downsample = sub.downsample;
  const bool null = std::isnan(value) && downsample && downsample->fill == query::FillPolicy::kNull;
  const std::string_view text = null                ? "null"
                                : std::isnan(value) ? "\"NaN\""
                                : value > 0         ? "\"Infinity\""
                                                    : "\"-Infinity\"";
  return std::ranges::copy(text, to).out;
}

void AnswerSource::end_series(std::string& to) {
  const query::AnswerSeries& series = answer_->series[series_];
  to += answer_->question.arrays ? ']' : '}';
  if (answer_->question.show_stats) {
    fmt::format_to(std::back_inserter(to), ",\"stats\":{{\"queryIndex\":{},", series.query_index);
    append_query_stats(
        to, {.cost = answer_->cost, .emitted = series.times.size(), .nans = nans_of(series)});
    to += '}';
  }
  to += '}';
  in_series_ = false;
  ++series_;
}

}  // namespace halite::web
