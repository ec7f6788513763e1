#include "ingest/json/json_body_reader.h"

#include <algorithm>
#include <array>

#include "ingest/json/fast_json_parser.h"

namespace halite::ingest {
namespace {

SeriesKey series_key(const JsonPieces& pieces) {
  return {.grammar = KeyGrammar::kJson, .metric = pieces.metric, .tags = pieces.tags};
}

PointBits bits_of(const JsonPieces& pieces) {
  return {.time = pieces.time, .value = pieces.value, .flags = pieces.flags};
}

}  // namespace

JsonBodyReader::JsonBodyReader(WriterContext& context, JsonParsers& parsers)
    : context_(context),
      parsers_(parsers),
      ingest_batch_(context.store.pin_series()),
      reader_(context.cache.reader(ingest_batch_.pin())) {}

bool JsonBodyReader::take_fast_path(std::string_view body) {
  const std::size_t points_max = context_.options.limits.points_per_request_max;
  if (parse_body_fast(body, points_max, context_.cache, *reader_, ingest_batch_, elements_)) {
    hits_ += elements_.size();
    return true;
  }
  ingest_batch_.clear();
  elements_.clear();
  return false;
}

Result<void> JsonBodyReader::take(std::span<const JsonElement> elements) {
  constexpr std::size_t kGroup = 32;
  std::array<std::uint64_t, kGroup> hashes;
  reader_->refresh();
  while (!elements.empty()) {
    const auto group = elements.first(std::min(kGroup, elements.size()));
    for (std::size_t i = 0; i < group.size(); ++i) {
      hashes[i] = group[i].fast ? context_.cache.hash(series_key(group[i].pieces)) : 0;
      if (group[i].fast) reader_->prefetch_slot(hashes[i]);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i].fast) reader_->prefetch_entry(hashes[i]);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i].fast) reader_->prefetch_text(series_key(group[i].pieces), hashes[i]);
    }
    for (std::size_t i = 0; i < group.size(); ++i) TRY_VOID(take_one(group[i], hashes[i]));
    elements = elements.subspan(group.size());
  }
  return {};
}

Result<void> JsonBodyReader::take_one(const JsonElement& element, std::uint64_t hash) {
  const auto origin = static_cast<std::uint32_t>(elements_.size());
  elements_.push_back(element.text);
  if (element.fast) {
    const SeriesKey key = series_key(element.pieces);
    if (const auto id = reader_->find(key, hash)) {
      ++hits_;
      ingest_batch_.add(*id, bits_of(element.pieces), origin);
      return {};
    }
    if (const auto series = ingest_batch_.find_waiting(key, hash)) {
      ingest_batch_.add(*series, bits_of(element.pieces), origin);
      return {};
    }
  }
  ++misses_;
  if (element.text.empty()) {
    refuse(origin, {.reason = RefusalReason::kIllegalArgument,
                    .text = "Unexpected null datapoint encountered in set."});
    return {};
  }
  return take_completely(element, hash, origin);
}

Result<void> JsonBodyReader::take_completely(const JsonElement& element, std::uint64_t hash,
                                             std::uint32_t origin) {
  TRY(SentPoint sent, parsers_.points.read(element.text));
  auto point = validate_sent_point(std::move(sent), context_.rules);
  if (!point) {
    refuse(origin, std::move(point).error());
  } else if (element.fast) {
    const auto series =
        ingest_batch_.add_waiting(series_key(element.pieces), hash, std::move(point->series));
    ingest_batch_.add(series, bits_of(element.pieces), origin);
  } else {
    context_.add_named(ingest_batch_, *reader_, *std::move(point), origin);
  }
  return {};
}

void JsonBodyReader::refuse(std::uint32_t origin, Refused why) {
  refused_.push_back({.origin = origin, .why = std::move(why)});
}

}  // namespace halite::ingest
