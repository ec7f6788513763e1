#include "ingest/bodies/received_points.h"

#include <utility>

namespace halite::ingest {

ReceivedPoints::ReceivedPoints(WriterContext& context, SeriesNamer name, std::size_t points_max)
    : context_(context),
      name_(std::move(name)),
      points_max_(points_max),
      parsed_{.points = IngestBatch(context.store.pin_series()),
              .refused = {},
              .skipped = {},
              .families = {}},
      reader_(context.cache.reader(parsed_.points.pin())) {}

ReceivedPoints::Parsed ReceivedPoints::take() {
  reader_.reset();
  return std::move(parsed_);
}

SeriesKey ReceivedPoints::likely_series() const {
  const CachedKey* const expected = reader_->expected();
  if (expected == nullptr) return {};
  return {.grammar = expected->grammar, .metric = expected->metric(), .tags = expected->tags()};
}

void ReceivedPoints::take_likely_series() {
  id_ = reader_->expected()->id;
  reader_->take_expected();
}

void ReceivedPoints::series(const SeriesKey& key) {
  const CachedKey* const expected = reader_->expected();
  if (expected != nullptr && expected->grammar == key.grammar && expected->metric() == key.metric &&
      expected->tags() == key.tags) {
    return take_likely_series();
  }
  hash_ = context_.cache.hash(key);
  id_ = reader_->find_in_order(key, hash_);
  if (id_) return;
  grammar_ = key.grammar;
  metric_.assign(key.metric);
  tags_.assign(key.tags);
}

void ReceivedPoints::point(PointBits point) {
  if (++points_ > points_max_) return;
  IngestBatch& points = parsed_.points;
  if (id_) return points.add(*id_, point, part_);
  const SeriesKey key{.grammar = grammar_, .metric = metric_, .tags = tags_};
  if (points.add_if_waiting(key, hash_, point, part_)) return;
  auto name = name_(key);
  if (!name) return refuse(std::move(name).error().text);
  points.add_waiting(key, hash_, *std::move(name), point, part_);
}

// All points of a line may have one reason.
void ReceivedPoints::refuse(std::string reason) {
  std::vector<BatchRefusal>& refused = parsed_.refused;
  if (!refused.empty() && refused.back().origin == part_ && refused.back().why.text == reason) {
    return;
  }
  refused.push_back({.origin = part_, .why = {.text = std::move(reason)}});
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
  auto found = parsed_.families.find(about.family);
  if (found == parsed_.families.end()) {
    found = parsed_.families.emplace(about.family, storage::FamilyFields()).first;
  }
  storage::FamilyFields& kept = found->second;
  if (!about.type.empty()) kept.type = about.type;
  if (!about.unit.empty()) kept.unit = about.unit;
  if (!about.help.empty()) kept.help = about.help;
}

}  // namespace halite::ingest
