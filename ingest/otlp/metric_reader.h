// Metrics of OTLP as series and points. docs/data-model.md has the mapping. Private to ingest/otlp.
//
// A data point is a part (PointReceiver::part). That of a histogram or of a summary has several
// series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/bytes/proto_reader.h"
#include "common/data_point.h"
#include "ingest/formats/point_receiver.h"
#include "ingest/options.h"
#include "ingest/otlp/attributes.h"
#include "ingest/otlp/prometheus_names.h"
#include "ingest/otlp/remembered_tags.h"
#include "ingest/otlp/series_labels.h"

namespace halite::ingest {

// Buckets of a histogram and quantiles of a summary, at most: each is a series.
inline constexpr std::size_t kBucketsMax = 1024;

class MetricReader {
 public:
  // `promoted`: keys of the resource's attributes that become tags.
  MetricReader(const IngestLimits& limits, std::vector<std::string> promoted, PointReceiver& to)
      : name_bytes_max_(limits.name_bytes_max), labels_(limits, std::move(promoted)), to_(to) {}

  // The resource of the next metrics.
  void set_resource(const Attributes& attributes) {
    labels_.set_resource(attributes);
    remembered_.clear();
  }
  // Passes on the Metric that the reader's current field is.
  void read(ProtoReader& field);

 private:
  struct Sent {
    std::string_view name;
    std::string_view description;
    std::string_view unit;
    std::uint32_t data = 0;  // the field that has the data points; 0: none
  };
  // What all kinds of data points have.
  struct Common {
    std::uint64_t time_ns = 0;
    std::uint64_t flags = 0;
    std::size_t exemplars = 0;
  };
  struct Quantile {
    double quantile = 0;
    ValueBits value = 0;
  };

  void read_data(ProtoReader& field, const Sent& sent);
  [[nodiscard]] std::string take_kind(ProtoReader& field, const Sent& sent);
  void read_point(ProtoReader& data, const Sent& sent, const std::string& wrong);
  void read_number(ProtoReader point);
  void read_histogram(ProtoReader point);
  void read_summary(ProtoReader point);

  // Reads a KeyValue of the data point.
  void add_attribute(ProtoReader& point) { attributes_.add(point.message()); }
  // The same for a number, with the KeyValues directly behind it.
  void add_attributes(ProtoReader& point);
  void parse_attributes(ProtoReader list);
  // Sets time_, stale_ and the tags; otherwise refuses the data point.
  [[nodiscard]] bool begin_point(const Common& common, std::string_view own_label) {
    return take_common(common) && make_tags(own_label);
  }
  [[nodiscard]] bool take_common(const Common& common);
  [[nodiscard]] bool make_tags(std::string_view own_label);
  [[nodiscard]] bool make_tags_of_number();
  void pass(std::string_view metric, PointBits point) { pass(metric, labels_.tags(), point); }
  void pass(std::string_view metric, std::string_view tags, PointBits point);
  [[nodiscard]] std::string_view decimal(double value);  // valid until the next call
  [[nodiscard]] PointBits real(ValueBits value) const;
  [[nodiscard]] PointBits count(std::uint64_t value) const;
  void refuse(std::string_view why);

  const std::size_t name_bytes_max_;
  SeriesLabels labels_;
  RememberedTags remembered_;  // of numbers
  PointReceiver& to_;
  std::uint32_t number_ = 0;  // of the data point in the body

  // The current metric.
  MetricKind kind_ = MetricKind::kGauge;
  std::string shown_name_;  // as sent
  std::string name_;
  std::string bucket_name_;
  std::string sum_name_;
  std::string count_name_;

  // The current data point.
  Attributes attributes_;
  TimestampMs time_ = 0;
  bool stale_ = false;  // "no recorded value": markers take the place of values
  // Of a number.
  std::size_t attribute_runs_ = 0;        // attributes may lie apart
  BytesView attribute_bytes_;             // the first run
  std::optional<std::string_view> tags_;  // if they are known: attributes_ is empty then
  // Of others.
  std::vector<std::uint64_t> bucket_counts_;
  std::vector<double> bounds_;
  std::vector<Quantile> quantiles_;
  std::string decimal_;
};

}  // namespace halite::ingest
