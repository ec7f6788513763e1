#include "query/answer/sketch_query.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/sketch.h"
#include "query/answer/group.h"
#include "query/answer/histogram_query.h"

namespace halite::query {
namespace {

// The overhead of a map entry besides its sketch.
constexpr std::size_t kSketchBytes = 64;

using Sketches = std::map<TimestampMs, Sketch>;

// The sketches of the groups, by key. Their memory stays counted in the budget.
class GroupSketches {
 public:
  GroupSketches(const SubPlan& plan, QueryBudget& budget) : plan_(plan), budget_(budget) {}

  Result<void> add(const Bytes& group, const storage::Block& block) {
    Sketches& sketches = groups_[group];
    const TimestampMs begin = std::max(plan_.asked.begin, plan_.downsample->points.begin);
    for (std::size_t i = 0; i < block.totals.size(); ++i) {
      const TimestampMs time = block.totals[i].begin;
      if (time < begin || time >= plan_.asked.end) continue;
      const auto [at, is_new] = sketches.try_emplace(time);
      const std::size_t before = is_new ? 0 : at->second.bytes() + kSketchBytes;
      at->second.add(block.sketches[i]);
      TRY_VOID(budget_.add_bytes(static_cast<std::int64_t>(at->second.bytes() + kSketchBytes) -
                                 static_cast<std::int64_t>(before)));
    }
    return {};
  }

  [[nodiscard]] const Sketches& of(const Bytes& group) const { return groups_.at(group); }

 private:
  const SubPlan& plan_;
  QueryBudget& budget_;
  std::map<Bytes, Sketches> groups_;
};

Result<AnswerSeries> percentile_series(const AnswerSeries& head, const Sketches& sketches,
                                       float percentile, QueryBudget& budget) {
  AnswerSeries series = head;
  series.metric += percentile_suffix(percentile);
  for (const auto& [time, sketch] : sketches) {
    series.times.push_back(time);
    series.values.push_back(double_bits(sketch.percentile(static_cast<double>(percentile))));
    series.floats.push_back(true);
  }
  TRY_VOID(budget.check());
  TRY_VOID(budget.add_output_points(series.times.size()));
  TRY_VOID(budget.add_bytes(
      static_cast<std::int64_t>(series.times.size() * PointColumns::kBytesPerPoint)));
  return series;
}

}  // namespace

Task<std::vector<AnswerSeries>> run_sketch_query(
    storage::PointStore& store, storage::BlockSource& view,
    std::shared_ptr<const storage::Selection> selection, const SubQuestion& question,
    const SubPlan& plan, std::size_t query_index, QueryBudget& budget) {
  Groups groups(question, plan);
  GroupSketches sketches(plan, budget);
  std::map<storage::SeriesId, GroupMember> members;
  const auto scan = view.scan_totals(selection, plan.scan, 0,
                                     {.bucket_ms = plan.downsample->interval_ms, .sketches = true});
  while (true) {
    auto next = scan->next();
    CO_TRY(const std::vector<storage::Block> blocks, co_await std::move(next));
    if (blocks.empty()) break;
    CO_TRY_VOID(budget.check());
    budget.add_blocks(blocks.size());
    for (const storage::Block& block : blocks) {
      const storage::Series& series = view.series(block.series);
      const bool is_new = members.try_emplace(block.series, &series, nullptr).second;
      if (is_new) CO_TRY_VOID(budget.add_series(1));
      CO_TRY_VOID(budget.add_points(block.totals.size()));
      CO_TRY_VOID(sketches.add(groups.key_of(series), block));
    }
  }
  std::vector<GroupMember> all;
  for (const auto& [id, member] : members) all.push_back(member);
  groups.add(std::move(all));
  auto listing = store.lookup(selection, 0);
  CO_TRY(const storage::PinnedSeries behind, co_await std::move(listing));
  for (const storage::SeriesId id : behind) groups.add_behind(store.series(id));

  std::vector<const Sketches*> of_groups;
  for (const Group* const group : groups.all()) {
    of_groups.push_back(&sketches.of(groups.key_of(*group->members.front().series)));
  }
  const std::vector<AnswerSeries> heads = groups.take_answers(query_index);
  std::vector<AnswerSeries> answers;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    for (const float percentile : question.percentiles) {
      CO_TRY(AnswerSeries series, percentile_series(heads[i], *of_groups[i], percentile, budget));
      answers.push_back(std::move(series));
    }
  }
  co_return answers;
}

}  // namespace halite::query
