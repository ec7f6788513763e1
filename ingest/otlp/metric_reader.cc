#include "ingest/otlp/metric_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"
#include "ingest/formats/times.h"
#include "ingest/otlp/decimal_text.h"

namespace halite::ingest {
namespace {

// Fields of Metric with data points.
constexpr std::uint32_t kGauge = 5;
constexpr std::uint32_t kSum = 7;
constexpr std::uint32_t kHistogram = 9;
constexpr std::uint32_t kExponentialHistogram = 10;
constexpr std::uint32_t kSummary = 11;

// AggregationTemporality.
constexpr std::uint64_t kDelta = 1;
constexpr std::uint64_t kCumulative = 2;

constexpr std::uint64_t kNoRecordedValue = 1;  // bit of a data point's flags

constexpr std::string_view kBucketLabel = "le";
constexpr std::string_view kQuantileLabel = "quantile";

std::string_view type_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::kGauge:
    case MetricKind::kSum:
      return "gauge";
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kHistogram:
      return "histogram";
    case MetricKind::kSummary:
      return "summary";
  }
  return {};
}

}  // namespace

void MetricReader::read(ProtoReader& field) {
  Sent sent;
  for (ProtoReader metric = field.message(); metric.next();) {
    switch (metric.field()) {
      case 1:
        sent.name = metric.bytes();
        break;
      case 2:
        sent.description = metric.bytes();
        break;
      case 3:
        sent.unit = metric.bytes();
        break;
      case kGauge:
      case kSum:
      case kHistogram:
      case kExponentialHistogram:
      case kSummary:
        sent.data = metric.field();  // of several kinds the last counts
        break;
      default:
        break;
    }
  }
  if (sent.data != 0) read_data(field, sent);
}

// The data may come in pieces, which belong together.
void MetricReader::read_data(ProtoReader& field, const Sent& sent) {
  shown_name_ = shown(repair_utf8(sent.name));
  const std::string wrong = take_kind(field, sent);
  if (wrong.empty()) {
    to_.metadata(
        {.family = name_, .type = type_name(kind_), .unit = sent.unit, .help = sent.description});
  }
  for (ProtoReader metric = field.message(); metric.next();) {
    if (metric.field() != sent.data) continue;
    for (ProtoReader data = metric.message(); data.next();) {
      if (data.field() == 1) read_point(data, sent, wrong);
    }
  }
}

void MetricReader::read_point(ProtoReader& data, const Sent& sent, const std::string& wrong) {
  to_.part(++number_);
  if (!wrong.empty()) {
    refuse(wrong);
  } else if (sent.data == kHistogram) {
    read_histogram(data.message());
  } else if (sent.data == kSummary) {
    read_summary(data.message());
  } else {
    read_number(data.message());
  }
}

// Sets kind and names. Returns why no data point of the metric is stored; empty: they are.
std::string MetricReader::take_kind(ProtoReader& field, const Sent& sent) {
  std::uint64_t temporality = kCumulative;
  bool monotonic = false;
  if (sent.data == kSum || sent.data == kHistogram) {
    temporality = 0;
    for (ProtoReader metric = field.message(); metric.next();) {
      if (metric.field() != sent.data) continue;
      for (ProtoReader data = metric.message(); data.next();) {
        if (data.field() == 2) temporality = data.varint();
        if (data.field() == 3 && sent.data == kSum) monotonic = data.varint() != 0;
      }
    }
  }
  if (sent.name.empty()) return "a metric without a name";
  if (sent.name.size() > name_bytes_max_) {
    return fmt::format("the name has {} bytes, at most {} are allowed (ingest.name_bytes_max)",
                       sent.name.size(), name_bytes_max_);
  }
  if (sent.unit.size() > name_bytes_max_) {
    return fmt::format("the unit has {} bytes, at most {} are allowed (ingest.name_bytes_max)",
                       sent.unit.size(), name_bytes_max_);
  }
  if (!is_utf8(sent.name)) return "the name is not UTF-8";
  if (sent.data == kExponentialHistogram) return "an exponential histogram is not stored";
  if (temporality == kDelta) {
    return "delta temporality is not stored; set the exporter's temporality to cumulative";
  }
  if (temporality != kCumulative) return "aggregation_temporality is not specified";
  switch (sent.data) {
    case kSum:
      kind_ = monotonic ? MetricKind::kCounter : MetricKind::kSum;
      break;
    case kHistogram:
      kind_ = MetricKind::kHistogram;
      break;
    case kSummary:
      kind_ = MetricKind::kSummary;
      break;
    default:
      kind_ = MetricKind::kGauge;
  }
  name_ = metric_name(sent.name, sent.unit, kind_);
  if (name_.empty()) return "the metric has no name in letters and digits";
  if (kind_ == MetricKind::kHistogram || kind_ == MetricKind::kSummary) {
    bucket_name_.assign(name_).append("_bucket");
    sum_name_.assign(name_).append("_sum");
    count_name_.assign(name_).append("_count");
  }
  return {};
}

void MetricReader::read_number(ProtoReader point) {
  attributes_.clear();
  attribute_runs_ = 0;
  tags_.reset();
  Common common;
  std::uint32_t value_field = 0;
  ValueBits value = 0;
  while (point.next()) {
    switch (point.field()) {
      case 3:
        common.time_ns = point.fixed64();
        break;
      case 4:
      case 6:
        value = point.fixed64();
        value_field = point.field();
        break;
      case 5:
        ++common.exemplars;
        break;
      case 7:
        add_attributes(point);
        break;
      case 8:
        common.flags = point.varint();
        break;
      default:
        break;
    }
  }
  if (!take_common(common) || !make_tags_of_number()) return;
  if (value_field == 0 && !stale_) return refuse("a data point without a value");
  if (value_field == 6 && !stale_) {
    pass(name_, *tags_, integer_point(time_, as_integer(value)));
  } else {
    pass(name_, *tags_, real(value));
  }
}

void MetricReader::read_histogram(ProtoReader point) {
  attributes_.clear();
  bucket_counts_.clear();
  bounds_.clear();
  Common common;
  std::uint64_t all = 0;
  std::optional<ValueBits> sum;
  while (point.next()) {
    switch (point.field()) {
      case 3:
        common.time_ns = point.fixed64();
        break;
      case 4:
        all = point.fixed64();
        break;
      case 5:
        sum = point.double_bits();
        break;
      case 6:
        point.each_fixed64([&](std::uint64_t bucket) { bucket_counts_.push_back(bucket); });
        break;
      case 7:
        point.each_fixed64(
            [&](std::uint64_t bound) { bounds_.push_back(std::bit_cast<double>(bound)); });
        break;
      case 8:
        ++common.exemplars;
        break;
      case 9:
        add_attribute(point);
        break;
      case 10:
        common.flags = point.varint();
        break;
      default:
        break;
    }
  }
  if (!begin_point(common, kBucketLabel)) return;
  if (bucket_counts_.size() > kBucketsMax) {
    return refuse(
        fmt::format("{} buckets, at most {} are allowed", bucket_counts_.size(), kBucketsMax));
  }
  const std::size_t buckets_wanted = bounds_.empty() ? bucket_counts_.size() : bounds_.size() + 1;
  if (bucket_counts_.size() != buckets_wanted || (bounds_.empty() && bucket_counts_.size() > 1)) {
    return refuse(
        fmt::format("{} buckets do not fit to {} bounds", bucket_counts_.size(), bounds_.size()));
  }
  if (!std::ranges::all_of(bounds_, [](double bound) { return std::isfinite(bound); }) ||
      std::ranges::adjacent_find(bounds_, std::greater_equal<>()) != bounds_.end()) {
    return refuse("the bounds of the buckets are not finite and increasing");
  }
  for (std::size_t i = 1; i < bounds_.size(); ++i) {
    bucket_counts_[i] += bucket_counts_[i - 1];
    if (bucket_counts_[i] < bucket_counts_[i - 1]) {
      return refuse("the buckets have more than 2^64 - 1 values");
    }
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    labels_.put(kBucketLabel, decimal(bounds_[i]));
    pass(bucket_name_, count(bucket_counts_[i]));
  }
  labels_.put(kBucketLabel, "+Inf");
  pass(bucket_name_, count(all));
  labels_.remove_put();
  if (sum) pass(sum_name_, real(*sum));
  pass(count_name_, count(all));
}

void MetricReader::read_summary(ProtoReader point) {
  attributes_.clear();
  quantiles_.clear();
  Common common;
  std::uint64_t all = 0;
  ValueBits sum = 0;
  while (point.next()) {
    switch (point.field()) {
      case 3:
        common.time_ns = point.fixed64();
        break;
      case 4:
        all = point.fixed64();
        break;
      case 5:
        sum = point.double_bits();
        break;
      case 6: {
        Quantile& quantile = quantiles_.emplace_back();
        for (ProtoReader part = point.message(); part.next();) {
          if (part.field() == 1) quantile.quantile = std::bit_cast<double>(part.double_bits());
          if (part.field() == 2) quantile.value = part.double_bits();
        }
        break;
      }
      case 7:
        add_attribute(point);
        break;
      case 8:
        common.flags = point.varint();
        break;
      default:
        break;
    }
  }
  if (!begin_point(common, kQuantileLabel)) return;
  if (quantiles_.size() > kBucketsMax) {
    return refuse(
        fmt::format("{} quantiles, at most {} are allowed", quantiles_.size(), kBucketsMax));
  }
  for (const Quantile& quantile : quantiles_) {
    if (quantile.quantile >= 0 && quantile.quantile <= 1) continue;
    return refuse(fmt::format("{} is no quantile: it has to be from 0 to 1", quantile.quantile));
  }
  for (const Quantile& quantile : quantiles_) {
    labels_.put(kQuantileLabel, decimal(quantile.quantile));
    pass(name_, real(quantile.value));
  }
  labels_.remove_put();
  pass(sum_name_, real(sum));
  pass(count_name_, count(all));
}

void MetricReader::add_attributes(ProtoReader& point) {
  const BytesView run = point.take_run();
  if (attribute_runs_++ == 0) {
    attribute_bytes_ = run;
    tags_ = remembered_.find(run);
    if (tags_) return;
  } else if (tags_) {
    tags_.reset();
    parse_attributes(point.again(attribute_bytes_));
  }
  parse_attributes(point.again(run));
}

void MetricReader::parse_attributes(ProtoReader list) {
  while (list.next()) add_attribute(list);
}

bool MetricReader::take_common(const Common& common) {
  for (std::size_t i = 0; i < common.exemplars; ++i) to_.skip("an exemplar");
  stale_ = (common.flags & kNoRecordedValue) != 0;
  if (common.time_ns == 0) {
    refuse("a data point without a time (time_unix_nano)");
    return false;
  }
  if (common.time_ns > INT64_MAX) {
    refuse(fmt::format("the time {} is more than {} ns", common.time_ns, INT64_MAX));
    return false;
  }
  const auto time = time_in(static_cast<std::int64_t>(common.time_ns), TimeUnit::kNanoseconds);
  if (!time) {
    refuse(time.error());
    return false;
  }
  time_ = *time;
  return true;
}

bool MetricReader::make_tags(std::string_view own_label) {
  if (const auto wrong = labels_.set(attributes_, own_label)) {
    refuse(*wrong);
    return false;
  }
  return true;
}

bool MetricReader::make_tags_of_number() {
  if (tags_) return true;
  if (!make_tags({})) return false;
  tags_ = labels_.tags();
  if (attribute_runs_ == 1) remembered_.add(attribute_bytes_, *tags_);
  return true;
}

void MetricReader::pass(std::string_view metric, std::string_view tags, PointBits point) {
  to_.series({.grammar = KeyGrammar::kNames, .metric = metric, .tags = tags});
  to_.point(point);
}

std::string_view MetricReader::decimal(double value) {
  decimal_.clear();
  append_decimal(decimal_, value);
  return decimal_;
}

PointBits MetricReader::real(ValueBits value) const {
  return double_point(time_, stale_ ? kStaleMarker : value);
}

PointBits MetricReader::count(std::uint64_t value) const {
  if (stale_ || value > INT64_MAX) return real(double_bits(static_cast<double>(value)));
  return integer_point(time_, static_cast<std::int64_t>(value));
}

void MetricReader::refuse(std::string_view why) {
  to_.refuse(fmt::format("metric {}: {}", shown_name_, why));
}

}  // namespace halite::ingest
