#include "storage/catalog/selection.h"

#include <algorithm>
#include <utility>

namespace halite::storage {
namespace {

// Prefetch distance: series are scattered in memory.
constexpr std::size_t kAhead = 16;

}  // namespace

Task<std::shared_ptr<const RowSelection>> RowSelection::resolve(SeriesRegistry& registry,
                                                                const RowLayout& layout,
                                                                SeriesQuery query,
                                                                ReadContext context,
                                                                TimestampMs now) {
  const std::shared_ptr<RowSelection> selection(new RowSelection(registry, registry.shard_count()));
  selection->context_ = std::move(context);
  selection->now_ = now;
  selection->wants_annotations_ = query.notes;
  selection->since_ = query.since;
  if (!query.tsuids.empty()) {
    CO_TRY_VOID(co_await selection->resolve_tsuids(layout.widths(), std::move(query.tsuids)));
    co_return selection;
  }
  CO_TRY(const UidTable::NameMapping metric,
         co_await registry.uids().find(NameKind::kMetric, std::move(query.metric)));
  selection->metric_uid_ = metric.uid;
  CO_TRY_VOID(co_await selection->resolve_filters(std::move(query.filters), query.regexp_bytes_max,
                                                  query.skip_unknown_values));
  if (query.explicit_tags) {
    selection->tags_exactly_ = static_cast<std::size_t>(
        std::ranges::count_if(selection->matchers_, &TagKeyMatcher::wants_key));
  }
  co_return selection;
}

Task<void> RowSelection::resolve_tsuids(const UidWidths& widths, std::vector<Bytes> tsuids) {
  std::vector<UidTable::UidRequest> uids;
  std::optional<Bytes> first_metric;
  for (const Bytes& tsuid : tsuids) {
    CO_TRY(const SeriesUids parsed, parse_tsuid(widths, tsuid));
    Bytes metric = tsuid.substr(0, widths.metric);
    if (!first_metric) {
      first_metric = std::move(metric);
      metric_uid_ = parsed.metric;
    } else if (metric != *first_metric) {
      co_return fail(Errc::kInvalidArgument, "One or more TSUIDs did not share the same metric [" +
                                                 to_hex(*first_metric) + "] [" + to_hex(metric) +
                                                 "]");
    }
    uids.push_back({NameKind::kMetric, parsed.metric});
    for (const UidPair& pair : parsed.pairs) {
      uids.push_back({NameKind::kTagKey, pair.key});
      uids.push_back({NameKind::kTagValue, pair.value});
    }
  }
  CO_TRY(const auto names, co_await registry_.uids().names_of(std::move(uids)));
  for (const auto& name : names) {
    if (!name) co_return std::unexpected(name.error());
  }
  std::ranges::sort(tsuids);
  tsuids.erase(std::ranges::unique(tsuids).begin(), tsuids.end());
  tsuids_ = std::move(tsuids);
  co_return Result<void>();
}

TagKeyMatcher& RowSelection::matcher_for(std::uint64_t key_uid) {
  const auto found = std::ranges::find(matchers_, key_uid, &TagKeyMatcher::key_uid);
  return found != matchers_.end() ? *found : matchers_.emplace_back(key_uid);
}

Task<void> RowSelection::resolve_filters(std::vector<TagFilter> filters,
                                         std::size_t regexp_bytes_max, bool skip_unknown_values) {
  const Regexps regexps(regexp_bytes_max);
  for (const TagFilter& filter : filters) {
    CO_TRY(auto matcher, TagMatcher::compile(filter, regexps));
    CO_TRY(const UidTable::NameMapping key,
           co_await registry_.uids().find(NameKind::kTagKey, filter.key));
    TagKeyMatcher& wanted = matcher_for(key.uid);
    if (filter.type == FilterType::kNotKey) {
      wanted.want_absent();
      continue;
    }
    if (filter.type != FilterType::kLiteralOr) {
      wanted.want_match(std::move(matcher), filter.type == FilterType::kRegexp);
      continue;
    }
    std::vector<UidTable::NameRequest> requests;
    for (std::string& literal : filter_literals(filter)) {
      requests.push_back({NameKind::kTagValue, std::move(literal), false});
    }
    CO_TRY(const auto values, co_await registry_.uids().resolve(std::move(requests)));
    std::vector<std::uint64_t> value_uids;
    for (const auto& value : values) {
      if (value) {
        value_uids.push_back(value->uid);
      } else if (value.error().code != Errc::kNotFound || !skip_unknown_values) {
        co_return std::unexpected(value.error());
      }
    }
    wanted.want_any_of(value_uids);
  }
  co_return Result<void>();
}

bool RowSelection::matches(const Series& series) const {
  if (by_tsuid()) return std::ranges::binary_search(tsuids_, series.tsuid.bytes());
  return wanted().matches(series);
}

std::span<const SeriesId> RowSelection::Matching::of_shard(std::uint32_t shard) const {
  return std::span(ids_).subspan(begin_[shard], begin_[shard + 1] - begin_[shard]);
}

// The series named by tsuid at positions from examined_ to before `end`.
std::vector<SeriesId> RowSelection::named_members(std::size_t end) const {
  std::vector<SeriesId> found;
  for (const Bytes& tsuid : tsuids_) {
    const auto member = registry_.table().member(tsuid);
    if (member && member->position >= examined_ && member->position < end)
      found.push_back(member->id);
  }
  std::ranges::sort(found);
  return found;
}

// Needs mutex_. If series were removed, positions may have changed, so it examines all again.
Result<void> RowSelection::examine(const WorkBudget* budget) const {
  const SeriesTable& table = registry_.table();
  for (;;) {
    const std::uint64_t removals = table.removals();
    if (removals != removals_) {
      matching_.clear();
      examined_ = 0;
      removals_ = removals;
    }
    TRY_VOID(examine_new(budget));
    if (table.removals() == removals) return {};
  }
}

// Examines the series added since the last call.
Result<void> RowSelection::examine_new(const WorkBudget* budget) const {
  const SeriesTable& table = registry_.table();
  const std::size_t end = table.count_of_metric(metric_uid_);
  if (end <= examined_) return {};
  std::vector<SeriesId> found;
  if (by_tsuid()) {
    found = named_members(end);
  } else {
    const MembersOf members = {.metric_uid = metric_uid_, .begin = examined_, .end = end};
    TRY(found, filter_series(table, members, wanted(), budget));
  }
  matching_.insert(matching_.end(), found.begin(), found.end());
  examined_ = end;
  return {};
}

// Needs mutex_. A counting sort by shard; ids are nearly always in order already.
RowSelection::Known RowSelection::sorted() const {
  const SeriesTable& table = registry_.table();
  auto made = std::make_shared<Matching>();
  made->metric_size_ = examined_;
  made->removals_ = removals_;
  made->begin_.assign(std::size_t{shards_} + 1, 0);
  // Removed ids were assigned again.
  if (!std::ranges::is_sorted(matching_)) std::ranges::sort(matching_);
  std::vector<std::uint32_t> shards;
  shards.reserve(matching_.size());
  for (std::size_t i = 0; i < matching_.size(); ++i) {
    if (i + kAhead < matching_.size()) __builtin_prefetch(&table.at(matching_[i + kAhead]).shard);
    shards.push_back(table.at(matching_[i]).shard);
    ++made->begin_[shards.back() + 1];
  }
  for (std::size_t shard = 0; shard < shards_; ++shard) {
    made->begin_[shard + 1] += made->begin_[shard];
  }
  std::vector<std::size_t> next(made->begin_.begin(), made->begin_.end() - 1);
  made->ids_.resize(matching_.size());
  for (std::size_t i = 0; i < matching_.size(); ++i) made->ids_[next[shards[i]]++] = matching_[i];
  return made;
}

RowSelection::Known RowSelection::published() const {
  const std::lock_guard lock(known_mutex_);
  return known_;
}

bool RowSelection::is_current(const Known& known) const {
  const SeriesTable& table = registry_.table();
  return known != nullptr && known->removals_ == table.removals() &&
         known->metric_size() == table.count_of_metric(metric_uid_);
}

RowSelection::Known RowSelection::known() const {
  Known now = published();
  if (is_current(now)) return now;
  const std::lock_guard lock(mutex_);
  const Result<void> looked = examine(nullptr);
  static_cast<void>(looked);  // fails only with a budget
  now = published();
  if (now != nullptr && now->removals_ == removals_ && now->metric_size() == examined_) {
    return now;  // another caller was faster
  }
  now = sorted();
  const std::lock_guard publishing(known_mutex_);
  known_ = now;
  return now;
}

Result<void> RowSelection::use() const {
  const WorkBudget* const budget = context_.budget.get();
  if (budget != nullptr) TRY_VOID(budget->check());
  const std::lock_guard lock(mutex_);
  TRY_VOID(examine(budget));
  registry_.unmark_candidates(matching_);
  // Series named by tsuid were loaded one by one and may have been counted before.
  if (budget == nullptr || by_tsuid()) return {};
  return budget->check_series(matching_.size());
}

}  // namespace halite::storage
