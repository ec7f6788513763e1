#include "storage/catalog/series_restore.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/catalog/index/tag_batch.h"
#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {
namespace {

using UidRequest = UidTable::UidRequest;

// The names of these uids, by index.
Task<std::vector<std::string_view>> read_names(UidTable& uids, std::vector<UidRequest> wanted) {
  std::vector<std::string_view> names(wanted.size());
  std::vector<UidRequest> unknown;
  std::vector<std::size_t> places;  // of the unknown
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (const auto* const known = uids.cached(wanted[i].kind, wanted[i].uid)) {
      names[i] = known->name;
    } else {
      unknown.push_back(wanted[i]);
      places.push_back(i);
    }
  }
  if (unknown.empty()) co_return names;
  CO_TRY(const auto read, co_await uids.names_of(std::move(unknown)));
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) co_return std::unexpected(read[i].error());
    names[places[i]] = read[i]->name;
  }
  co_return names;
}

// Series with their metrics and tags as numbers, in the order of add().
class Batch {
 public:
  Batch(SeriesTable& table, UidWidths widths)
      : table_(table), widths_(widths), tags_(table.tag_batch()) {}

  Result<void> add(const LoggedSeries& series) {
    SeriesTable::Restored& one = series_.emplace_back();
    one.id = series.id;
    one.shard = series.shard;
    const bool same_tags = series.tsuid.size() >= widths_.metric && !tsuid_.empty() &&
                           series.tsuid.substr(widths_.metric) == tsuid_.substr(widths_.metric);
    if (same_tags) {
      one.tags = series_[series_.size() - 2].tags;
      if (one.tags == nullptr) ++new_sets_.back().series;
    } else {
      TRY_VOID(add_tags(series.tsuid, one));
    }
    tsuid_ = series.tsuid;
    const std::uint64_t metric = load_be_width(tsuid_.substr(0, widths_.metric));
    const auto [at, is_new] =
        numbers_.try_emplace(metric, static_cast<std::uint32_t>(metrics_.size()));
    if (is_new) metrics_.push_back({.uid = metric, .name = {}});
    one.metric = at->second;
    return {};
  }

  // What complete() needs the names of, in this order. Few tags have a key of their own.
  [[nodiscard]] std::vector<UidRequest> names() {
    std::vector<UidRequest> names;
    for (const auto& metric : metrics_) names.push_back({NameKind::kMetric, metric.uid});
    for (const std::uint32_t tag : tags_.unknown()) {
      if (keys_.try_emplace(pairs_[tag].key, names.size()).second) {
        names.push_back({NameKind::kTagKey, pairs_[tag].key});
      }
    }
    for (const std::uint32_t tag : tags_.unknown()) {
      names.push_back({NameKind::kTagValue, pairs_[tag].value});
    }
    return names;
  }

  Result<void> complete(std::span<const std::string_view> names) {
    for (std::size_t i = 0; i < metrics_.size(); ++i) metrics_[i].name = names[i];
    std::size_t value = metrics_.size() + keys_.size();
    for (const std::uint32_t tag : tags_.unknown()) {
      const UidPair& pair = pairs_[tag];
      tags_.make(tag, {.key = names[keys_.at(pair.key)],
                       .value = names[value++],
                       .key_uid = pair.key,
                       .value_uid = pair.value});
    }
    std::span<const std::uint32_t> tags(new_tags_);
    for (const NewSet& one : new_sets_) {
      TRY(const TagSet* const set, table_.add_tag_set(tags_, one.tsuid, tags.first(one.tags)));
      tags = tags.subspan(one.tags);
      for (std::size_t i = 0; i < one.series; ++i) series_[one.begin + i].tags = set;
    }
    return table_.restore(metrics_, series_);
  }

 private:
  // A tag set that the table did not have, and series with it that follow each other.
  struct NewSet {
    std::size_t begin = 0;   // the first series
    std::size_t series = 1;  // the number of series
    BytesView tsuid;         // of the first
    std::size_t tags = 0;    // the number of tags
  };

  Result<void> add_tags(BytesView tsuid, SeriesTable::Restored& one) {
    one.tags = table_.find_tags(tsuid);
    if (one.tags != nullptr) return {};
    TRY(const SeriesUids uids, parse_tsuid(widths_, tsuid));
    new_sets_.push_back(
        {.begin = series_.size() - 1, .series = 1, .tsuid = tsuid, .tags = uids.pairs.size()});
    for (const UidPair& pair : uids.pairs) {
      const std::uint32_t number = tags_.number_of(pair.key, pair.value);
      if (number == pairs_.size()) pairs_.push_back(pair);
      new_tags_.push_back(number);
    }
    return {};
  }

  SeriesTable& table_;
  const UidWidths widths_;
  TagBatch tags_;
  std::vector<UidPair> pairs_;  // of tags_, by number
  std::vector<SeriesTable::Restored> series_;
  BytesView tsuid_;  // of the last one
  std::vector<NewSet> new_sets_;
  std::vector<std::uint32_t> new_tags_;  // of all new sets, as numbers in tags_
  std::vector<SeriesTable::RestoredMetric> metrics_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers_;  // index in metrics_, by uid
  boost::unordered_flat_map<std::uint64_t, std::size_t> keys_;       // index in names(), by uid
};

}  // namespace

Task<void> restore_series(SeriesTable& table, UidTable& uids, UidWidths widths,
                          const std::vector<LoggedSeries>& series) {
  Batch batch(table, widths);
  for (const LoggedSeries& one : series) CO_TRY_VOID(batch.add(one));
  Task<std::vector<std::string_view>> reading = read_names(uids, batch.names());
  CO_TRY(const std::vector<std::string_view> names, co_await std::move(reading));
  co_return batch.complete(names);
}

}  // namespace halite::storage
