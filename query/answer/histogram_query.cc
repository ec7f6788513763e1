#include "query/answer/histogram_query.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/gather.h"
#include "common/java/java_double.h"
#include "query/answer/group.h"
#include "query/operators/downsample.h"
#include "storage/cells/layouts/values/simple_histogram.h"

namespace halite::query {
namespace {

using storage::SimpleHistogram;

// In time order.
using Histograms = std::map<TimestampMs, SimpleHistogram>;

// The overhead of a map entry besides its histogram.
constexpr std::size_t kEntryBytes = 64;

Result<void> add_to(Histograms& histograms, TimestampMs time, const SimpleHistogram& histogram,
                    QueryBudget& budget) {
  const auto [at, added] = histograms.try_emplace(time);
  const std::size_t before = added ? 0 : at->second.memory_bytes() + kEntryBytes;
  TRY_VOID(at->second.add(histogram));
  return budget.add_bytes(static_cast<std::int64_t>(at->second.memory_bytes() + kEntryBytes) -
                          static_cast<std::int64_t>(before));
}

// The histograms of one series, downsampled as they arrive.
class SeriesHistograms {
 public:
  explicit SeriesHistograms(const SubPlan& plan) : plan_(plan) {
    if (plan.downsample) window_.emplace(*plan.downsample);
  }

  // Times must not decrease.
  Result<void> add(TimestampMs time, const SimpleHistogram& histogram, QueryBudget& budget) {
    if (!window_) return add_to(histograms, time, histogram, budget);
    const TimeRange wanted = plan_.downsample->points;
    if (time < wanted.begin || time >= wanted.end) return {};
    if (!window_->is_open() || time >= window_->end()) window_->open(time);
    return add_to(histograms, window_->begin(), histogram, budget);
  }

  Histograms histograms;

 private:
  const SubPlan& plan_;
  std::optional<BucketWindow> window_;
};

using ShardSeries = std::map<storage::SeriesId, SeriesHistograms>;

Result<SimpleHistogram> decode(const Bytes& value, const storage::HistogramConfig& config) {
  const auto codec = static_cast<std::uint8_t>(value.front());
  if (!config.simple_id || codec != *config.simple_id) {
    return fail(Errc::kInvalidArgument, fmt::format("No codec found mapped to ID {}", codec));
  }
  return SimpleHistogram::read(BytesView(value).substr(1));
}

// Amounts for the fetch limits; a block counts as a row.
FetchMeter::Amount amount_of(const storage::HistogramBlock& block) {
  FetchMeter::Amount amount{.points = block.times.size(), .rows = 1};
  for (const Bytes& value : block.values) amount.bytes += value.size() + FetchMeter::kPointBytes;
  return amount;
}

Task<void> read_shard(const storage::HistogramCells* cells,
                      std::shared_ptr<const storage::Selection> selection, const SubPlan* plan,
                      std::uint32_t shard, ShardSeries* series, QueryBudget* budget,
                      FetchMeter* meter) {
  const auto scan = cells->scan(std::move(selection), plan->scan, shard);
  while (true) {
    auto next = scan->next();
    CO_TRY(const std::vector<storage::HistogramBlock> blocks, co_await std::move(next));
    if (blocks.empty()) co_return Result<void>{};
    CO_TRY_VOID(budget->check());
    budget->add_blocks(blocks.size());
    for (const storage::HistogramBlock& block : blocks) {
      if (block.times.empty()) continue;
      const auto [at, added] = series->try_emplace(block.series, *plan);
      if (added) CO_TRY_VOID(budget->add_series(1));
      CO_TRY_VOID(budget->add_points(block.times.size()));
      CO_TRY_VOID(meter->add(amount_of(block)));
      for (std::size_t i = 0; i < block.times.size(); ++i) {
        CO_TRY(const SimpleHistogram histogram, decode(block.values[i], cells->config()));
        CO_TRY_VOID(at->second.add(block.times[i], histogram, *budget));
      }
    }
  }
}

// Turns one group's histograms into output series.
class GroupAnswers {
 public:
  GroupAnswers(const Histograms& histograms, const AnswerSeries& head, TimeRange asked,
               QueryBudget& budget)
      : histograms_(histograms), head_(head), asked_(asked), budget_(budget) {}

  Result<void> add_percentile(float percentile, std::vector<AnswerSeries>& out) {
    return add(percentile_suffix(percentile), true, out, [&](const SimpleHistogram& histogram) {
      return double_bits(histogram.percentile(static_cast<double>(percentile)));
    });
  }

  // The buckets of the first histogram; those of others do not matter.
  Result<void> add_buckets(std::vector<AnswerSeries>& out) {
    if (histograms_.empty()) return {};
    TRY_VOID(add("_UNDERFLOW", false, out, [](const SimpleHistogram& histogram) {
      return integer_bits(histogram.underflow);
    }));
    for (const storage::HistogramBucket& bucket : histograms_.begin()->second.buckets()) {
      const std::string name =
          fmt::format("_{}_{}", java_float(bucket.lower), java_float(bucket.upper));
      TRY_VOID(add(name, false, out, [&](const SimpleHistogram& histogram) {
        return integer_bits(histogram.count(bucket.lower, bucket.upper));
      }));
    }
    return add("_OVERFLOW", false, out,
               [](const SimpleHistogram& histogram) { return integer_bits(histogram.overflow); });
  }

 private:
  template <class ValueOf>
  Result<void> add(const std::string& suffix, bool floats, std::vector<AnswerSeries>& out,
                   ValueOf value_of) {
    AnswerSeries series = head_;
    series.metric += suffix;
    for (auto at = histograms_.lower_bound(asked_.begin);
         at != histograms_.end() && at->first < asked_.end; ++at) {
      series.times.push_back(at->first);
      series.values.push_back(value_of(at->second));
      series.floats.push_back(floats);
    }
    TRY_VOID(budget_.check());
    TRY_VOID(budget_.add_output_points(series.times.size()));
    TRY_VOID(budget_.add_bytes(
        static_cast<std::int64_t>(series.times.size() * PointColumns::kBytesPerPoint)));
    out.push_back(std::move(series));
    return {};
  }

  const Histograms& histograms_;
  const AnswerSeries& head_;
  const TimeRange asked_;
  QueryBudget& budget_;
};

// Adds histograms by time. The order of members does not affect sums.
Result<Histograms> merge(const Group& group, std::map<storage::SeriesId, SeriesHistograms*>& series,
                         QueryBudget& budget) {
  Histograms merged;
  for (const GroupMember& member : group.members) {
    SeriesHistograms& one = *series.at(member.series->id);
    for (const auto& [time, histogram] : one.histograms) {
      TRY_VOID(add_to(merged, time, histogram, budget));
    }
    one.histograms.clear();
  }
  return merged;
}

}  // namespace

std::string percentile_suffix(float percentile) { return "_pct_" + java_float(percentile); }

Task<std::vector<AnswerSeries>> run_histogram_query(
    const storage::HistogramCells& cells, std::shared_ptr<const storage::Selection> selection,
    const SubQuestion& question, const SubPlan& plan, std::size_t query_index, QueryBudget& budget,
    FetchMeter& meter) {
  std::vector<ShardSeries> shards(cells.shard_count());
  std::vector<Task<void>> tasks;
  for (std::uint32_t shard = 0; shard < shards.size(); ++shard) {
    tasks.push_back(read_shard(&cells, selection, &plan, shard, &shards[shard], &budget, &meter));
  }
  auto gathering = gather(std::move(tasks), shards.size());
  const std::vector<Result<void>> outcomes = co_await std::move(gathering);
  for (const Result<void>& outcome : outcomes) {
    if (!outcome) co_return std::unexpected(outcome.error());
  }

  Groups groups(question, plan);
  std::map<storage::SeriesId, SeriesHistograms*> series;
  std::vector<GroupMember> members;
  for (ShardSeries& shard : shards) {
    for (auto& [id, one] : shard) {
      series.emplace(id, &one);
      members.push_back({.series = &cells.series(id), .member = nullptr});
    }
  }
  groups.add(std::move(members));
  std::vector<Histograms> merged;
  for (const Group* const group : groups.all()) {
    CO_TRY(Histograms histograms, merge(*group, series, budget));
    merged.push_back(std::move(histograms));
  }
  const std::vector<AnswerSeries> heads = groups.take_answers(query_index);
  std::vector<AnswerSeries> answers;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    GroupAnswers group(merged[i], heads[i], plan.asked, budget);
    for (const float percentile : question.percentiles) {
      CO_TRY_VOID(group.add_percentile(percentile, answers));
    }
    if (question.show_histogram_buckets) CO_TRY_VOID(group.add_buckets(answers));
  }
  co_return answers;
}

}  // namespace halite::query
