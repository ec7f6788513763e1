#include "storage/catalog/interning.h"

#include <algorithm>
#include <utility>

#include "storage/catalog/name_order.h"

namespace halite::storage {
namespace {

NameKind kind_at(std::size_t place) {
  if (place == 0) return NameKind::kMetric;
  return place % 2 == 1 ? NameKind::kTagKey : NameKind::kTagValue;
}

}  // namespace

InternBatch::InternBatch(const UidTable& uids, std::vector<SeriesName> names)
    : names_(std::move(names)) {
  outcomes_.resize(names_.size(), SeriesId{0});
  look_up(uids);
}

// Place 0 is the metric, 1 the first tag's key, 2 its value, and so on.
const std::string& InternBatch::name_at(std::size_t series, std::size_t place) const {
  const SeriesName& name = names_[series];
  if (place == 0) return name.metric;
  const Tag& tag = name.tags[(place - 1) / 2];
  return place % 2 == 1 ? tag.key : tag.value;
}

void InternBatch::look_up(const UidTable& uids) {
  begins_.reserve(names_.size());
  if (!names_.empty()) entries_.reserve(names_.size() * (1 + 2 * names_.front().tags.size()));
  std::size_t places_before = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::size_t begin = entries_.size();
    begins_.push_back(begin);
    const std::size_t places = 1 + 2 * names_[i].tags.size();
    bool complete = true;
    for (std::size_t place = 0; place < places; ++place) {
      const std::string& name = name_at(i, place);
      NameMapping entry;
      if (place < places_before && name_at(i - 1, place) == name) {
        entry = entries_[begins_[i - 1] + place];
      } else if (const NameMapping* known = uids.cached(kind_at(place), name)) {
        entry = *known;
      }
      complete = complete && entry.uid != 0;
      entries_.push_back(entry);
    }
    if (!complete) incomplete_.push_back(i);
    places_before = places;
  }
}

void InternBatch::want(std::size_t series, std::size_t place, NameKind kind, bool create,
                       std::vector<UidTable::NameRequest>& requests) {
  const std::size_t slot = begins_[series] + place;
  if (entries_[slot].uid != 0) return;
  const std::string& name = name_at(series, place);
  const auto [request, fresh] = requested_.try_emplace(name, requests.size());
  const bool may_create = create && !closed_.contains(series);
  if (fresh) requests.push_back({kind, name, may_create});
  requests[request->second].create |= may_create;
  waits_.push_back({.slot = slot, .series = series, .request = request->second});
}

std::vector<UidTable::NameRequest> InternBatch::unknown(NameKind kind, bool create) {
  std::vector<UidTable::NameRequest> requests;
  waits_.clear();
  requested_.clear();
  create_ = create;
  for (const std::size_t series : incomplete_) {
    if (!outcomes_[series]) continue;
    if (kind == NameKind::kMetric) {
      want(series, 0, kind, create, requests);
      continue;
    }
    const std::size_t offset = kind == NameKind::kTagKey ? 1 : 2;
    const std::vector<Tag>& tags = names_[series].tags;
    std::size_t count = 0;
    std::size_t last = 0;
    for (std::size_t place = offset; place <= 2 * tags.size(); place += 2) {
      if (entries_[begins_[series] + place].uid != 0) continue;
      ++count;
      last = place;
    }
    if (count == 1) want(series, last, kind, create, requests);
    if (count < 2) continue;
    for (const std::uint32_t at : name_order(tags)) {
      want(series, offset + 2 * std::size_t{at}, kind, create, requests);
    }
  }
  return requests;
}

void InternBatch::resolved(std::span<const Result<UidTable::NameMapping>> entries) {
  for (const Wait& wait : waits_) {
    const Result<NameMapping>& entry = entries[wait.request];
    if (entry) {
      entries_[wait.slot] = *entry;
    } else if (outcomes_[wait.series]) {
      const auto closed = closed_.find(wait.series);
      const bool for_that =
          create_ && closed != closed_.end() && entry.error().code == Errc::kNotFound;
      if (for_that) {
        refuse_over_quota(wait.series, closed->second);
      } else {
        refuse(wait.series, entry.error());
      }
    }
  }
}

std::vector<std::size_t> InternBatch::incomplete() const {
  std::vector<std::size_t> open;
  for (const std::size_t series : incomplete_) {
    if (outcomes_[series]) open.push_back(series);
  }
  return open;
}

Bytes InternBatch::tsuid_of(std::size_t index, const UidWidths& widths) {
  const NameMapping* const entries = &entries_[begins_[index]];
  pairs_.clear();
  for (std::size_t tag = 0; tag < tags_of(index); ++tag) {
    pairs_.push_back({entries[1 + 2 * tag].uid, entries[2 + 2 * tag].uid});
  }
  return make_tsuid(widths, entries[0].uid, pairs_);
}

// The views refer to names in the name table.
InternBatch::NewEntry InternBatch::fresh(std::size_t index, Bytes tsuid, bool with_tags) const {
  const NameMapping* const entries = &entries_[begins_[index]];
  NewEntry fresh;
  fresh.index = index;
  fresh.series.metric_uid = entries[0].uid;
  fresh.series.metric = entries[0].name;
  fresh.series.tsuid = std::move(tsuid);
  if (!with_tags) return fresh;
  std::vector<SeriesTag>& tags = fresh.series.tags;
  tags.reserve(tags_of(index));
  for (std::size_t tag = 0; tag < tags_of(index); ++tag) {
    const NameMapping& key = entries[1 + 2 * tag];
    const NameMapping& value = entries[2 + 2 * tag];
    tags.push_back(SeriesTag{key.name, value.name, key.uid, value.uid});
  }
  std::ranges::sort(tags, {}, &SeriesTag::key_uid);
  return fresh;
}

void InternBatch::refuse(std::size_t index, const Error& error) {
  outcomes_[index] = std::unexpected(error);
}

void InternBatch::refuse_over_quota(std::size_t index, const Error& error) {
  refuse(index, error);
  over_quota_.push_back(index);
}

}  // namespace halite::storage
