#include "query/export/point_export.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace halite::query {
namespace {

// A long list of metrics must not delay other queries.
constexpr std::size_t kMetricsBetweenYields = 64;

constexpr std::uint64_t kPointBytes = sizeof(TimestampMs) + sizeof(ValueBits);

// The memory of a name in a list, besides its text.
constexpr std::int64_t kNameBytes = sizeof(std::string);

}  // namespace

PointExport::PointExport(storage::PointStore& store, ExportQuestion question,
                         std::shared_ptr<QueryBudget> budget)
    : store_(store), question_(std::move(question)), budget_(std::move(budget)) {}

Task<bool> PointExport::next(BlockUse use) {
  if (!std::exchange(begun_, true)) CO_TRY_VOID(co_await find_metrics());
  while (true) {
    CO_TRY_VOID(budget_->check());
    if (scan_ != nullptr) {
      auto reading = scan_->next();
      CO_TRY(std::vector<storage::Block> blocks, co_await std::move(reading));
      if (blocks.empty()) scan_.reset();
      std::erase_if(blocks, [](const storage::Block& block) { return block.size() == 0; });
      if (blocks.empty()) continue;
      CO_TRY_VOID(pass_on(std::move(blocks), use));
      co_return true;
    }
    if (shard_ < shards_.size()) {
      scan_ = store_.scan(selection_, question_.range, shards_[shard_++].shard);
      continue;
    }
    end_metric();
    if (metric_ == metrics_.size()) co_return false;
    if (metric_ % kMetricsBetweenYields == 0) {
      const auto executor = co_await boost::asio::this_coro::executor;
      co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
    auto beginning = begin_metric(metrics_[metric_++]);
    CO_TRY_VOID(co_await std::move(beginning));
  }
}

Result<void> PointExport::pass_on(std::vector<storage::Block> blocks, const BlockUse& use) {
  std::ranges::sort(blocks, {}, [](const storage::Block& block) {
    return std::pair(block.series, block.times.front());
  });
  std::uint64_t points = 0;
  for (const storage::Block& block : blocks) points += block.size();
  const auto bytes = static_cast<std::int64_t>(points * kPointBytes);
  TRY_VOID(budget_->add_bytes(bytes));
  TRY_VOID(budget_->add_points(points));
  TRY_VOID(budget_->add_output_points(points));
  budget_->add_blocks(blocks.size());
  for (const storage::Block& block : blocks) {
    TRY_VOID(budget_->check());
    TRY_VOID(use(store_.series(block.series), block));
  }
  return budget_->add_bytes(-bytes);
}

// Lists the metrics that any selector may name.
Task<void> PointExport::find_metrics() {
  if (question_.range.begin >= question_.range.end) co_return Result<void>();
  std::set<std::string> found;
  const bool all = std::ranges::any_of(question_.selectors,
                                       [](const Selector& one) { return one.metric() == nullptr; });
  if (all) {
    auto listing =
        store_.suggest(storage::NameKind::kMetric, "", std::numeric_limits<std::size_t>::max());
    CO_TRY(const std::vector<std::string> names, co_await std::move(listing));
    CO_TRY_VOID(budget_->check());
    found.insert(names.begin(), names.end());
  }
  for (const Selector& selector : question_.selectors) {
    if (const std::string* const metric = selector.metric()) found.insert(*metric);
  }
  std::erase_if(found, [this](const std::string& metric) {
    return std::ranges::none_of(question_.selectors, [&metric](const Selector& selector) {
      return selector.matches_metric(metric);
    });
  });
  std::int64_t bytes = 0;
  for (const std::string& metric : found) {
    bytes += kNameBytes + static_cast<std::int64_t>(metric.size());
  }
  CO_TRY_VOID(budget_->add_bytes(bytes));
  bytes_of_metrics_ = bytes;
  metrics_.assign(found.begin(), found.end());
  co_return Result<void>();
}

storage::SeriesQuery PointExport::query_of(std::string metric) const {
  storage::SeriesQuery query;
  query.metric = std::move(metric);
  query.regexp_bytes_max = budget_->limits().regexp_bytes_max;
  query.since = question_.range.begin;
  return query;
}

// Null: a name does not exist.
Task<PointExport::SelectionPtr> PointExport::select(storage::SeriesQuery query) {
  auto selecting = store_.select(std::move(query), {.budget = budget_, .counters = budget_});
  Result<SelectionPtr> selected = co_await std::move(selecting);
  if (!selected && selected.error().code == Errc::kNotFound) co_return nullptr;
  co_return selected;
}

Task<void> PointExport::begin_metric(std::string metric) {
  std::set<Bytes> tsuids;
  SelectionPtr whole;       // of all these series and no others
  std::size_t applies = 0;  // selectors
  for (const Selector& selector : question_.selectors) {
    if (!selector.matches_metric(metric)) continue;
    ++applies;
    storage::SeriesQuery query = query_of(metric);
    query.filters = selector.tag_filters();
    auto selecting = select(std::move(query));
    CO_TRY(SelectionPtr selected, co_await std::move(selecting));
    if (selected == nullptr) continue;
    auto listing = store_.lookup(selected, 0);
    CO_TRY(const storage::PinnedSeries ids, co_await std::move(listing));
    std::size_t matching = 0;
    for (const storage::SeriesId id : ids) {
      const storage::Series& series = store_.series(id);
      if (!selector.matches_tags(series.tags)) continue;
      ++matching;
      const auto [tsuid, is_new] = tsuids.insert(series.tsuid.bytes());
      if (is_new) CO_TRY_VOID(budget_->add_bytes(kNameBytes + std::ssize(*tsuid)));
    }
    whole = applies == 1 && matching == ids.size() ? std::move(selected) : nullptr;
  }
  CO_TRY_VOID(budget_->add_series(tsuids.size()));
  if (tsuids.empty()) co_return Result<void>();
  selection_ = applies == 1 ? std::move(whole) : nullptr;
  if (selection_ == nullptr) {
    storage::SeriesQuery query = query_of(std::move(metric));
    query.tsuids.assign(tsuids.begin(), tsuids.end());
    auto selecting = select(std::move(query));
    CO_TRY(selection_, co_await std::move(selecting));
    if (selection_ == nullptr) co_return Result<void>();
  }
  shards_ = store_.series_by_shard(*selection_);
  co_return Result<void>();
}

void PointExport::end_metric() {
  static_cast<void>(budget_->add_bytes(bytes_of_metrics_ - budget_->bytes()));
  selection_.reset();
  shards_.clear();
  shard_ = 0;
}

}  // namespace halite::query
