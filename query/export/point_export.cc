#include "query/export/point_export.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace halite::query {
namespace {

// A long list of metrics must not delay other queries.
constexpr std::size_t kMetricsBetweenYields = 64;

constexpr std::uint64_t kPointBytes = sizeof(TimestampMs) + sizeof(ValueBits);

}  // namespace

PointExport::PointExport(storage::PointStore& store, ExportQuestion question,
                         std::shared_ptr<QueryBudget> budget)
    : store_(store),
      range_(question.range),
      budget_(std::move(budget)),
      search_(store, std::move(question.selectors), range_.begin, budget_) {}

Task<bool> PointExport::next(BlockUse use) {
  if (!std::exchange(begun_, true)) {
    if (range_.begin >= range_.end) co_return false;
    auto listing = search_.metrics();
    CO_TRY(metrics_, co_await std::move(listing));
    bytes_of_metrics_ = budget_->bytes();
  }
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
      scan_ = store_.scan(selection_, range_, shards_[shard_++].shard);
      continue;
    }
    end_metric();
    if (metric_ == metrics_.size()) {
      release_down_to(bytes_kept_);
      co_return false;
    }
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

Task<void> PointExport::begin_metric(std::string metric) {
  auto finding = search_.find(std::move(metric), false);
  CO_TRY(FoundMetric found, co_await std::move(finding));
  selection_ = std::move(found.selection);
  if (selection_ != nullptr) shards_ = store_.series_by_shard(*selection_);
  co_return Result<void>();
}

Result<void> PointExport::keep_bytes(std::int64_t bytes) {
  bytes_kept_ += bytes;
  return budget_->add_bytes(bytes);
}

// What a budget gets back cannot exceed its limit.
void PointExport::release_down_to(std::int64_t bytes) {
  static_cast<void>(budget_->add_bytes(bytes - budget_->bytes()));
}

void PointExport::end_metric() {
  release_down_to(bytes_of_metrics_ + bytes_kept_);
  selection_.reset();
  shards_.clear();
  shard_ = 0;
}

}  // namespace halite::query
