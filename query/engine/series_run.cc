#include "query/engine/series_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "query/promql/eval/column_reader.h"
#include "query/query_budget.h"
#include "query/selection/present_series.h"
#include "query/selection/series_search.h"

namespace halite::query {
namespace {

// A long list of metrics must not delay other queries.
constexpr std::size_t kMetricsBetweenYields = 64;

// A metric with many series must not run on after its time, or after it is cancelled.
constexpr std::size_t kSeriesBetweenChecks = 4096;

// The memory of a text in a list, besides its bytes.
constexpr std::int64_t kTextBytes = sizeof(std::string);

using SeriesUse = std::function<Result<bool>(const storage::Series& series)>;

// Passes all series that the question names to `use`, until that returns false.
Task<void> find_all(PromqlStores stores, SeriesQuestion question,
                    std::shared_ptr<QueryBudget> budget, SeriesUse use,
                    std::vector<std::shared_ptr<const storage::Selection>>* selections) {
  const QueryBudget::Timed timed(*budget, Stage::kSelect);
  auto refreshing = stores.refresh();
  CO_TRY_VOID(co_await std::move(refreshing));
  SeriesSearch search(*stores.points, std::move(question.selectors), question.range.begin, budget,
                      stores.counters);
  auto listing = search.metrics();
  CO_TRY(const std::vector<std::string> metrics, co_await std::move(listing));
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    auto finding = search.find(metrics[i]);
    CO_TRY(FoundMetric found, co_await std::move(finding));
    CO_TRY_VOID(budget->check());
    if (selections != nullptr && found.selection != nullptr) {
      selections->push_back(found.selection);
    }
    if (question.bounded) {
      auto keeping = keep_present(stores.points, stores.counters, question.range, budget, &found);
      CO_TRY_VOID(co_await std::move(keeping));
    }
    std::size_t seen = 0;
    for (const storage::SeriesId id : found.series) {
      if (++seen % kSeriesBetweenChecks == 0) CO_TRY_VOID(budget->check());
      CO_TRY(const bool more, use(stores.points->series(id)));
      if (!more) co_return Result<void>();
    }
    if (i % kMetricsBetweenYields != 0) continue;
    const auto executor = co_await boost::asio::this_coro::executor;
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
  }
  co_return Result<void>();
}

// {__name__!=""}: all series, but by choice.
Result<void> name_all_series(SeriesQuestion& question) {
  if (!question.selectors.empty()) return {};
  TRY(LabelMatcher any,
      LabelMatcher::make(std::string(kMetricLabel), MatchKind::kNotEqual, "", storage::Regexps()));
  question.selectors.emplace_back().matchers.push_back(std::move(any));
  return {};
}

FoundNames names_of(std::set<std::string, std::less<>> found, std::size_t limit) {
  FoundNames names;
  for (const std::string& name : found) {
    if (limit != 0 && names.names.size() == limit) {
      names.truncated = true;
      break;
    }
    names.names.push_back(name);
  }
  return names;
}

// Adds texts to a set and counts their memory.
class NameSet {
 public:
  explicit NameSet(QueryBudget& budget) : budget_(budget) {}

  Result<void> add(std::string_view name) {
    if (name.empty() || names_.contains(name)) return {};
    names_.emplace(name);
    return budget_.add_bytes(kTextBytes + static_cast<std::int64_t>(name.size()));
  }
  [[nodiscard]] std::set<std::string, std::less<>> take() { return std::move(names_); }

 private:
  QueryBudget& budget_;
  std::set<std::string, std::less<>> names_;
};

Task<std::shared_ptr<FoundSeries>> search_series(PromqlStores stores, SeriesQuestion question,
                                                 std::shared_ptr<QueryBudget> budget) {
  auto found = std::make_shared<FoundSeries>();
  auto selections = std::make_shared<std::vector<std::shared_ptr<const storage::Selection>>>();
  const std::size_t limit = question.limit;
  CO_TRY_VOID(name_all_series(question));
  SeriesUse use = [&](const storage::Series& series) -> Result<bool> {
    if (limit != 0 && found->series.size() == limit) {
      found->truncated = true;
      return false;
    }
    found->series.push_back(promql::Labels::of(series));
    TRY_VOID(budget->add_bytes(promql::row_bytes(found->series.back(), 0)));
    return true;
  };
  auto finding = find_all(stores, std::move(question), budget, std::move(use), selections.get());
  CO_TRY_VOID(co_await std::move(finding));
  std::ranges::sort(found->series);
  found->keeps = std::move(selections);
  co_return found;
}

// The names of all series. A store that does not list them finds metrics and keys among all names;
// values remain to be found. False: they do.
Task<bool> list_names(storage::PointStore* store, storage::SeriesNamesQuery wanted,
                      std::shared_ptr<QueryBudget> budget, NameSet* names) {
  const QueryBudget::Timed timed(*budget, Stage::kSelect);
  const storage::NameKind kind = wanted.kind;
  storage::NameUse add = [names](std::string_view name) { return names->add(name); };
  auto listing = store->series_names(std::move(wanted), {.budget = budget, .counters = budget},
                                     std::move(add));
  const Result<void> listed = co_await std::move(listing);
  if (listed) co_return true;
  if (listed.error().code != Errc::kUnsupported) co_return std::unexpected(listed.error());
  if (kind == storage::NameKind::kTagValue) co_return false;
  auto suggesting = store->suggest(kind, "", std::numeric_limits<std::size_t>::max());
  CO_TRY(const std::vector<std::string> all, co_await std::move(suggesting));
  CO_TRY_VOID(budget->check());
  for (const std::string& name : all) CO_TRY_VOID(names->add(name));
  co_return true;
}

Task<FoundNames> search_names(PromqlStores stores, SeriesQuestion question,
                              std::shared_ptr<QueryBudget> budget) {
  NameSet names(*budget);
  const std::size_t limit = question.limit;
  if (question.selectors.empty()) {
    auto listing =
        list_names(stores.points,
                   {.kind = storage::NameKind::kTagKey, .key = {}, .since = question.range.begin},
                   budget, &names);
    CO_TRY_VOID(co_await std::move(listing));
    CO_TRY_VOID(names.add(kMetricLabel));
    co_return names_of(names.take(), limit);
  }
  SeriesUse use = [&names](const storage::Series& series) -> Result<bool> {
    TRY_VOID(names.add(kMetricLabel));
    for (const storage::SeriesTag& tag : series.tags) TRY_VOID(names.add(tag.key));
    return true;
  };
  auto finding = find_all(stores, std::move(question), budget, std::move(use), nullptr);
  CO_TRY_VOID(co_await std::move(finding));
  co_return names_of(names.take(), limit);
}

Task<FoundNames> search_values(PromqlStores stores, std::string label, SeriesQuestion question,
                               std::shared_ptr<QueryBudget> budget) {
  NameSet names(*budget);
  const std::size_t limit = question.limit;
  const bool metrics = label == kMetricLabel;
  if (question.selectors.empty()) {
    auto listing =
        list_names(stores.points,
                   {.kind = metrics ? storage::NameKind::kMetric : storage::NameKind::kTagValue,
                    .key = label,
                    .since = question.range.begin},
                   budget, &names);
    CO_TRY(const bool listed, co_await std::move(listing));
    if (listed) co_return names_of(names.take(), limit);
    CO_TRY_VOID(name_all_series(question));
  }
  SeriesUse use = [&](const storage::Series& series) -> Result<bool> {
    if (metrics) {
      TRY_VOID(names.add(series.metric));
      return true;
    }
    for (const storage::SeriesTag& tag : series.tags) {
      if (tag.key == label) TRY_VOID(names.add(tag.value));
    }
    return true;
  };
  auto finding = find_all(stores, std::move(question), budget, std::move(use), nullptr);
  CO_TRY_VOID(co_await std::move(finding));
  co_return names_of(names.take(), limit);
}

}  // namespace

Task<std::shared_ptr<const FoundSeries>> run_series_search(PromqlStores stores,
                                                           SeriesQuestion question,
                                                           std::unique_ptr<SteppedRun> run) {
  auto searching = run->step(search_series(stores, std::move(question), run->budget()));
  CO_TRY(std::shared_ptr<FoundSeries> found, co_await std::move(searching));
  CO_TRY(found->room, run->reserve());
  found->cost = run->budget()->cost();
  run->succeeded();
  co_return found;
}

Task<FoundNames> run_label_names(PromqlStores stores, SeriesQuestion question,
                                 std::unique_ptr<SteppedRun> run) {
  auto searching = run->step(search_names(stores, std::move(question), run->budget()));
  CO_TRY(FoundNames found, co_await std::move(searching));
  CO_TRY(found.room, run->reserve());
  found.cost = run->budget()->cost();
  run->succeeded();
  co_return found;
}

Task<FoundNames> run_label_values(PromqlStores stores, std::string label, SeriesQuestion question,
                                  std::unique_ptr<SteppedRun> run) {
  auto searching =
      run->step(search_values(stores, std::move(label), std::move(question), run->budget()));
  CO_TRY(FoundNames found, co_await std::move(searching));
  CO_TRY(found.room, run->reserve());
  found.cost = run->budget()->cost();
  run->succeeded();
  co_return found;
}

}  // namespace halite::query
