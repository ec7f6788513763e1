#include "ingest/remote_write/remote_write_body.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "ingest/formats/labels.h"
#include "ingest/formats/names.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/times.h"
#include "ingest/remote_write/requests.h"
#include "ingest/series_cache/label_fields.h"

namespace halite::ingest {
namespace {

RemoteSample read_sample(ProtoReader& message) {
  constexpr std::uint32_t kValue = 1;
  constexpr std::uint32_t kTime = 2;
  RemoteSample sample;
  while (message.next()) {
    if (message.field() == kValue) {
      sample.value = message.double_bits();
    } else if (message.field() == kTime) {
      sample.ms = message.int64();
    }
  }
  return sample;
}

SeriesKey key_of(std::string_view labels) {
  return {.grammar = KeyGrammar::kLabelFields, .metric = {}, .tags = labels};
}

}  // namespace

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

Result<void> RemoteWriteBody::pass_on(const Labels& labels, ProtoReader& series,
                                      const SeriesFields& fields, PointReceiver& to) {
  bool named = false;
  while (series.next()) {
    if (series.field() == fields.sample) {
      ++counts_.samples;
      TRY_VOID(count_item());
      ProtoReader message = series.message();
      const RemoteSample sample = read_sample(message);
      if (!labels) {
        to.refuse(labels.error());
        continue;
      }
      if (!std::exchange(named, true)) to.series(key_of(*labels));
      pass_on(sample, *labels, to);
    } else if (series.field() == fields.histogram) {
      ++counts_.histograms;
      TRY_VOID(count_item());
      constexpr std::string_view kReason = "native histograms are not stored, send classic ones";
      to.refuse(labels ? about_series(*labels, kReason, to) : std::string(kReason));
    } else if (series.field() == fields.exemplar) {
      ++counts_.exemplars;
      to.skip("an exemplar");
    }
  }
  return {};
}

Result<void> RemoteWriteBody::pass_on(const std::vector<RemoteSample>& samples,
                                      std::string_view labels, PointReceiver& to) {
  for (const RemoteSample& sample : samples) {
    ++counts_.samples;
    TRY_VOID(count_item());
    pass_on(sample, labels, to);
  }
  return {};
}

void RemoteWriteBody::pass_on(const RemoteSample& sample, std::string_view labels,
                              PointReceiver& to) {
  auto time = time_in(sample.ms, TimeUnit::kMilliseconds);
  if (time) [[likely]] {
    to.point(double_point(*time, sample.value));
  } else {
    to.refuse(about_series(labels, time.error(), to));
  }
}

Result<void> RemoteWriteBody::pass_on(const MetricMetadata& about, PointReceiver& to) {
  TRY_VOID(count_item());
  for (const std::string_view text : {about.family, about.unit, about.help}) {
    if (!is_utf8(text)) {
      to.refuse("metadata that is not UTF-8");
      return {};
    }
  }
  if (!about.family.empty()) to.metadata(about);
  return {};
}

Result<void> RemoteWriteBody::count_item() {
  if (++items_ <= limits_.points_per_request_max) [[likely]]
    return {};
  return fail(Errc::kTooLarge,
              fmt::format("More than {} data points in one request (ingest.points_per_request_max)",
                          limits_.points_per_request_max));
}

std::string RemoteWriteBody::about_series(std::string_view labels, std::string_view reason,
                                          const PointReceiver& to) {
  if (labels != shown_labels_) {
    if (!to.keeps_reasons()) return std::string(reason);
    shown_labels_ = labels;
    shown_series_ = shown_series(labels);
  }
  return shown_series_.empty() ? std::string(reason) : shown_series_ + ": " + std::string(reason);
}

std::string RemoteWriteBody::shown_series(std::string_view labels) const {
  constexpr std::size_t kBytesMax = 200;
  const auto name = series_name(key_of(labels));
  if (!name) return {};
  std::string text;
  append_exposition_series(text, *name);
  if (text.size() > kBytesMax) {
    text.resize(kBytesMax);
    text = repair_utf8(text) + "..";
  }
  return text;
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

}  // namespace halite::ingest
