#include "ingest/remote_write/remote_write_body.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "ingest/formats/names.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/times.h"
#include "ingest/remote_write/requests.h"
#include "ingest/series_cache/label_fields.h"

namespace halite::ingest {

std::expected<SeriesName, Refused> RemoteWriteBody::series_name(const SeriesKey& key) const {
  std::string metric;
  bool has_metric = false;
  std::vector<Tag> tags;
  LabelFields labels(key.tags);
  while (labels.next()) {
    if (labels.name() != kNameLabel) {
      tags.push_back({.key = std::string(labels.name()), .value = std::string(labels.value())});
    } else if (has_metric) {
      return illegal("the label __name__ is there twice");
    } else {
      metric = labels.value();
      has_metric = true;
    }
  }
  if (labels.fault()) {
    return illegal(fmt::format("the labels are no labels: {}", labels.fault().text()));
  }
  if (metric.empty()) return illegal("no metric: no label __name__, or an empty one");
  return free_series(std::move(metric), std::move(tags), limits_);
}

void RemoteWriteBody::pass_on(const Labels& labels, ProtoReader& series, const SeriesFields& fields,
                              PointReceiver& to) {
  bool named = false;
  while (series.next()) {
    if (series.field() == fields.sample) {
      ++counts_.samples;
      if (!labels) {
        to.refuse(labels.error());
        continue;
      }
      if (!std::exchange(named, true)) {
        to.series({.grammar = KeyGrammar::kLabelFields, .metric = {}, .tags = *labels});
      }
      ProtoReader sample = series.message();
      pass_on_sample(sample, to);
    } else if (series.field() == fields.histogram) {
      ++counts_.histograms;
      to.refuse("native histograms are not stored: send classic ones, with buckets as series");
    } else if (series.field() == fields.exemplar) {
      ++counts_.exemplars;
      to.skip("an exemplar");
    }
  }
}

void RemoteWriteBody::pass_on_sample(ProtoReader& sample, PointReceiver& to) {
  constexpr std::uint32_t kValue = 1;
  constexpr std::uint32_t kTime = 2;
  ValueBits value = 0;
  std::int64_t ms = 0;
  while (sample.next()) {
    if (sample.field() == kValue) {
      value = sample.double_bits();
    } else if (sample.field() == kTime) {
      ms = sample.int64();
    }
  }
  auto time = time_in(ms, TimeUnit::kMilliseconds);
  if (time) [[likely]] {
    to.point(double_point(*time, value));
  } else {
    to.refuse(std::move(time).error());
  }
}

std::unique_ptr<RemoteWriteBody> make_remote_write_body(RemoteWriteVersion version, BytesView bytes,
                                                        const IngestLimits& limits) {
  return version == RemoteWriteVersion::k1 ? make_request_v1(bytes, limits)
                                           : make_request_v2(bytes, limits);
}

std::string_view metric_type_name(std::uint64_t number) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"unknown", "counter", "gauge", "histogram", "gaugehistogram",
                                       "summary", "info", "stateset"});
  return kNames[number < kNames.size() ? number : 0];
}

void pass_on(const MetricMetadata& about, PointReceiver& to) {
  for (const std::string_view text : {about.metric, about.unit, about.help}) {
    if (!is_utf8(text)) return to.refuse("metadata that is not UTF-8");
  }
  if (!about.metric.empty()) to.metadata(about);
}

}  // namespace halite::ingest
