#include "query/selection/series_search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "storage/catalog/names/name_kind.h"
#include "storage/cells/counters/counter_store.h"

namespace halite::query {
namespace {

// The memory of a name in a list, besides its text.
constexpr std::int64_t kNameBytes = sizeof(std::string);

constexpr std::int64_t kIdBytes = sizeof(storage::SeriesId);

// The number of selected series; none if the store does not know it.
std::optional<std::uint64_t> known_count(const storage::PointStore& store,
                                         const storage::Selection& selection) {
  std::uint64_t count = 0;
  for (const storage::ShardSeriesCount& shard : store.series_by_shard(selection)) {
    if (shard.series == 0) return std::nullopt;
    count += shard.series;
  }
  return count;
}

// Whether a store can have the names, for matchers may ask for any.
bool may_exist(const storage::SeriesQuery& query) {
  using storage::NameKind;
  const auto is_name = [](NameKind kind, std::string_view name) {
    return storage::check_name(kind, name).has_value();
  };
  const auto may_pass = [&is_name](const storage::TagFilter& filter) {
    return is_name(NameKind::kTagKey, filter.key) &&
           (filter.type != storage::FilterType::kLiteralOr ||
            is_name(NameKind::kTagValue, filter.pattern));
  };
  return is_name(NameKind::kMetric, query.metric) && std::ranges::all_of(query.filters, may_pass);
}

}  // namespace

SeriesSearch::SeriesSearch(storage::PointStore& store, std::vector<Selector> selectors,
                           TimestampMs since, std::shared_ptr<QueryBudget> budget,
                           const storage::CounterStore* counters)
    : store_(store),
      selectors_(std::move(selectors)),
      since_(since),
      budget_(std::move(budget)),
      counters_(counters) {}

Task<std::vector<std::string>> SeriesSearch::metrics() {
  std::set<std::string> found;
  const bool all =
      std::ranges::any_of(selectors_, [](const Selector& one) { return one.metric() == nullptr; });
  if (all) {
    auto listing =
        store_.suggest(storage::NameKind::kMetric, "", std::numeric_limits<std::size_t>::max());
    CO_TRY(const std::vector<std::string> names, co_await std::move(listing));
    CO_TRY_VOID(budget_->check());
    found.insert(names.begin(), names.end());
  }
  for (const Selector& selector : selectors_) {
    if (const std::string* const metric = selector.metric()) found.insert(*metric);
  }
  std::erase_if(found, [this](const std::string& metric) {
    return std::ranges::none_of(selectors_, [&metric](const Selector& selector) {
      return selector.matches_metric(metric);
    });
  });
  std::int64_t bytes = 0;
  for (const std::string& metric : found) {
    bytes += kNameBytes + static_cast<std::int64_t>(metric.size());
  }
  CO_TRY_VOID(budget_->add_bytes(bytes));
  co_return std::vector<std::string>(found.begin(), found.end());
}

storage::SeriesQuery SeriesSearch::query_of(std::string metric) const {
  storage::SeriesQuery query;
  const bool counts = counters_ != nullptr && counters_->rule_of(metric) != nullptr;
  if (!counts) query.since = since_;
  query.metric = std::move(metric);
  query.regexp_bytes_max = budget_->limits().regexp_bytes_max;
  return query;
}

// Null: a name does not exist.
Task<SeriesSearch::SelectionPtr> SeriesSearch::select(storage::SeriesQuery query) {
  if (!may_exist(query)) co_return nullptr;
  auto selecting = store_.select(std::move(query), {.budget = budget_, .counters = budget_});
  Result<SelectionPtr> selected = co_await std::move(selecting);
  if (!selected && selected.error().code == Errc::kNotFound) co_return nullptr;
  co_return selected;
}

Task<FoundMetric> SeriesSearch::select_tsuids(std::string metric, std::set<Bytes> tsuids) {
  FoundMetric found;
  storage::SeriesQuery query = query_of(std::move(metric));
  query.tsuids.assign(tsuids.begin(), tsuids.end());
  auto selecting = select(std::move(query));
  CO_TRY(found.selection, co_await std::move(selecting));
  if (found.selection == nullptr) co_return found;
  auto listing = store_.lookup(found.selection, 0);
  CO_TRY(found.series, co_await std::move(listing));
  co_return found;
}

Task<FoundMetric> SeriesSearch::find(std::string metric, bool lists) {
  std::vector<const Selector*> applying;
  for (const Selector& selector : selectors_) {
    if (selector.matches_metric(metric)) applying.push_back(&selector);
  }
  std::set<Bytes> tsuids;
  for (const Selector* const selector : applying) {
    storage::SeriesQuery query = query_of(metric);
    query.filters = selector->tag_filters();
    auto selecting = select(std::move(query));
    CO_TRY(SelectionPtr selected, co_await std::move(selecting));
    if (selected == nullptr) continue;
    if (!lists && applying.size() == 1 && selector->filters_are_exact()) {
      // Without a list only if the store knows how many there are.
      if (const std::optional<std::uint64_t> count = known_count(store_, *selected)) {
        CO_TRY_VOID(budget_->add_series(*count));
        co_return FoundMetric{.selection = std::move(selected), .series = {}};
      }
    }
    auto listing = store_.lookup(selected, 0);
    CO_TRY(storage::PinnedSeries ids, co_await std::move(listing));
    const std::size_t before = ids.size();
    ids.erase_if(
        [&](storage::SeriesId id) { return !selector->matches_tags(store_.series(id).tags); });
    if (applying.size() == 1 && ids.size() == before) {
      CO_TRY_VOID(budget_->add_series(ids.size()));
      if (ids.empty()) co_return FoundMetric{};
      CO_TRY_VOID(budget_->add_bytes(std::ssize(ids) * kIdBytes));
      co_return FoundMetric{.selection = std::move(selected), .series = std::move(ids)};
    }
    for (const storage::SeriesId id : ids) {
      const auto [tsuid, is_new] = tsuids.insert(store_.series(id).tsuid.bytes());
      if (is_new) CO_TRY_VOID(budget_->add_bytes(kNameBytes + std::ssize(*tsuid)));
    }
  }
  CO_TRY_VOID(budget_->add_series(tsuids.size()));
  if (tsuids.empty()) co_return FoundMetric{};
  auto selecting = select_tsuids(std::move(metric), std::move(tsuids));
  co_return co_await std::move(selecting);
}

}  // namespace halite::query
