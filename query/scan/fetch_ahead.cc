// Reads a few series beyond the window: see Fetch::look_ahead().
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/gather.h"
#include "query/scan/fetch.h"

namespace halite::query {

Task<void> Fetch::look_ahead(std::vector<LookAhead> awaited, TimestampMs from) {
  if (awaited.empty()) co_return Result<void>{};
  std::shared_ptr<const storage::Selection> selection = selection_;
  std::size_t known = 0;
  for (const auto& shard : shards_) known += shard->states.size();
  if (awaited.size() < known / 2) {  // otherwise the scan of all is cheaper than a new selection
    storage::SeriesQuery query;
    for (const LookAhead& one : awaited) query.tsuids.push_back(one.series->tsuid);
    auto selecting =
        store_.select(std::move(query), {.budget = shared_budget_, .counters = shared_budget_});
    CO_TRY(selection, co_await std::move(selecting));
  }
  std::vector<std::vector<LookAhead>> by_shard(shards_.size());
  for (const LookAhead& one : awaited) {
    // Rollups may have a single shard.
    by_shard[shards_.size() == 1 ? 0 : one.series->shard].push_back(one);
  }
  const TimeRange range{.begin = from, .end = plan_.scan.end};
  std::vector<Task<void>> tasks;
  for (const auto& shard : shards_) {
    std::vector<LookAhead>& wanted = by_shard[shard->index];
    if (wanted.empty()) continue;
    tasks.push_back(look_ahead_in(shard.get(), selection, std::move(wanted), range));
  }
  auto gathering = gather(std::move(tasks), shards_.size());
  const std::vector<Result<void>> outcomes = co_await std::move(gathering);
  for (const Result<void>& outcome : outcomes) {
    if (!outcome) co_return std::unexpected(outcome.error());
  }
  co_return Result<void>{};
}

Task<void> Fetch::look_ahead_in(FetchShard* shard,
                                std::shared_ptr<const storage::Selection> selection,
                                std::vector<LookAhead> awaited, TimeRange range) {
  struct Waiting {
    FetchedSeries* state;
    std::size_t points;  // the wanted number of points
  };
  std::unordered_map<storage::SeriesId, Waiting> waiting;
  for (const LookAhead& one : awaited) {
    FetchedSeries* const state = shard->states.at(one.series->id);
    waiting.emplace(one.series->id, Waiting{state, state->member.points.size() + one.points});
  }
  const std::unique_ptr<storage::BlockScan> scan = source_.scan(selection, range, shard->index);
  while (!waiting.empty()) {
    auto next = scan->next();
    CO_TRY(std::vector<storage::Block> blocks, co_await std::move(next));
    if (blocks.empty()) break;
    CO_TRY_VOID(budget_.check());
    std::erase_if(blocks, [&waiting](const storage::Block& block) {
      return block.times.empty() || !waiting.contains(block.series);
    });
    CO_TRY_VOID(take_blocks(*shard, blocks));
    for (const storage::Block& block : blocks) {
      FetchedSeries& state = *waiting.at(block.series).state;
      state.read_until = std::max(state.read_until, block.times.back() + 1);
    }
    std::erase_if(waiting, [](const auto& entry) {
      return entry.second.state->member.points.size() >= entry.second.points;
    });
  }
  // These series have no more points until the end of the scan range.
  for (const auto& [id, entry] : waiting) {
    entry.state->pipeline.finish(shard->scratch, entry.state->member.points);
    entry.state->member.finished = true;
  }
  co_return Result<void>{};
}

}  // namespace halite::query
