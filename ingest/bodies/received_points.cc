#include "ingest/bodies/received_points.h"

#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "ingest/formats/names.h"

namespace halite::ingest {

ReceivedPoints::ReceivedPoints(WriterContext& context, SeriesNamer name,
                               const ReceivedLimits& limits)
    : context_(context),
      name_(std::move(name)),
      limits_(limits),
      parsed_{.points = IngestBatch(context.store.pin_series()),
              .refused = {},
              .refused_parts = {},
              .skipped = {},
              .families = {}},
      reader_(context.cache.reader(parsed_.points.pin())) {}

std::optional<Error> ReceivedPoints::over_limit() const {
  if (items_ > limits_.items_max) {
    return Error{Errc::kTooLarge,
                 fmt::format("More than {} data points in one request", limits_.items_max),
                 "Send fewer at a time or raise ingest.points_per_request_max"};
  }
  if (!names_fit_) {
    return Error{Errc::kTooLarge,
                 fmt::format("The names of new series in one request take more than {} bytes",
                             limits_.new_series_bytes_max),
                 "Send fewer at a time"};
  }
  return std::nullopt;
}

ReceivedPoints::Parsed ReceivedPoints::take() {
  reader_.reset();
  context_.stats.looked_up(looked_up_ - missed_, missed_);
  return std::move(parsed_);
}

SeriesKey ReceivedPoints::likely_series() const {
  const CachedKey* const expected = reader_->expected();
  if (expected == nullptr) return {};
  return {.grammar = expected->grammar, .metric = expected->metric(), .tags = expected->tags()};
}

void ReceivedPoints::take_likely_series() {
  ++looked_up_;
  id_ = reader_->expected()->id;
  reader_->take_expected();
}

void ReceivedPoints::series(const SeriesKey& key) {
  if (is_over_limit()) return;
  const CachedKey* const expected = reader_->expected();
  if (expected != nullptr && expected->grammar == key.grammar && expected->metric() == key.metric &&
      expected->tags() == key.tags) {
    return take_likely_series();
  }
  no_name_.reset();
  const IngestLimits& limits = context_.options.limits;
  const std::size_t bytes = key.metric.size() + key.tags.size();
  if (bytes > limits.series_bytes_max()) {
    id_.reset();
    waiting_.reset();
    no_name_ = names_too_long(bytes, limits);
    return;
  }
  ++looked_up_;
  hash_ = context_.cache.hash(key);
  id_ = reader_->find_in_order(key, hash_);
  if (id_) return;
  ++missed_;
  waiting_ = parsed_.points.find_waiting(key, hash_);
  if (waiting_) return;
  grammar_ = key.grammar;
  metric_.assign(key.metric);
  tags_.assign(key.tags);
}

void ReceivedPoints::point(PointBits point) {
  ++items_;
  if (is_over_limit()) return;
  IngestBatch& points = parsed_.points;
  if (id_) return points.add(*id_, point, part_);
  if (waiting_) return points.add(*waiting_, point, part_);
  if (no_name_) return note_refusal(*no_name_);
  const SeriesKey key{.grammar = grammar_, .metric = metric_, .tags = tags_};
  auto name = name_(key);
  if (!name) return note_refusal(no_name_.emplace(std::move(name).error().text));
  waiting_ = points.add_waiting(key, hash_, *std::move(name));
  points.add(*waiting_, point, part_);
  names_fit_ = points.waiting_bytes() <= limits_.new_series_bytes_max;
}

void ReceivedPoints::refuse(std::string reason) {
  ++items_;
  if (!is_over_limit()) note_refusal(std::move(reason));
}

// All points of a part may have one reason, which counts once.
void ReceivedPoints::note_refusal(std::string reason) {
  const bool first = refused_part_ != part_;
  if (!first && refused_reason_ == reason) return;
  refused_part_ = part_;
  refused_reason_ = reason;
  if (first) parsed_.refused_parts.push_back(part_);
  std::vector<BatchRefusal>& refused = parsed_.refused;
  if (refused.size() < limits_.refusals_kept_max && (first || limits_.every_reason)) {
    refused.push_back({.origin = part_, .why = {.text = std::move(reason)}});
  } else {
    ++parsed_.refused_unkept;
  }
}

void ReceivedPoints::skip(std::string_view what) {
  const auto found = parsed_.skipped.find(what);
  if (found != parsed_.skipped.end()) {
    ++found->second;
  } else {
    parsed_.skipped.emplace(what, 1);
  }
}

void ReceivedPoints::metadata(const MetricMetadata& about) {
  for (const std::string_view text : {about.family, about.type, about.unit, about.help}) {
    if (!is_utf8(text)) return skip("metadata that is not UTF-8");
  }
  auto found = parsed_.families.find(about.family);
  if (found == parsed_.families.end()) {
    if (parsed_.families.size() >= limits_.families_max) return skip("metadata of a metric");
    found = parsed_.families.emplace(about.family, storage::FamilyFields()).first;
  }
  storage::FamilyFields& kept = found->second;
  if (!about.type.empty()) kept.type = about.type;
  if (!about.unit.empty()) kept.unit = about.unit;
  if (!about.help.empty()) kept.help = about.help;
}

}  // namespace halite::ingest
