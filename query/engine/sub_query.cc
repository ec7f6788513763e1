#include "query/engine/sub_query.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/gather.h"
#include "common/units.h"
#include "query/answer/group.h"
#include "query/answer/query_annotations.h"
#include "query/scan/fetch.h"

namespace halite::query {
namespace {

std::int64_t round_to_hours(std::int64_t length) {
  return std::max<std::int64_t>(1, length / kHourMs) * kHourMs;
}

// Chooses the length of the next window. The first window is the whole range, which fits for nearly
// all queries. A window that is too large is shortened until it fits its share of the memory.
class WindowLength {
 public:
  WindowLength(TimeRange scan, const QueryLimits& limits)
      : length_(scan.end - scan.begin),
        share_(std::max<std::uint64_t>(1, std::min(limits.window_bytes, limits.bytes_max / 4))) {}

  [[nodiscard]] std::int64_t length() const { return length_; }

  // 0 if the window cannot be shorter: then only the hard limit applies.
  [[nodiscard]] std::uint64_t bytes_max() const { return length_ > kHourMs ? share_ : 0; }

  void was_too_large() { length_ = round_to_hours(length_ / 16); }

  void took(std::uint64_t bytes) {
    if (bytes < share_ / 4) length_ *= 2;
    if (bytes > share_ / 2) length_ = round_to_hours(length_ / 2);
  }

 private:
  std::int64_t length_;
  std::uint64_t share_;
};

// The members that delay their group: they have no points left in the second half of the window.
// Often they have ended, and only a look ahead can find out.
std::vector<Fetch::LookAhead> laggards(Groups& groups, TimeRange window, bool rate) {
  const TimestampMs middle = window.begin + (window.end - window.begin) / 2;
  std::vector<Fetch::LookAhead> awaited;
  for (Group* const group : groups.all()) {
    if (group->members.size() < 2) continue;
    for (const GroupMember& entry : group->members) {
      const Member& member = *entry.member;
      std::size_t points = member.missing(rate);
      if (points == 0 && !member.finished && !member.points.empty()) {
        points = member.points.times.back() < middle ? 1 : 0;
      }
      if (points > 0) awaited.push_back({.series = entry.series, .points = points});
    }
  }
  return awaited;
}

Task<void> merge_some(const SubPlan* plan, std::vector<Group*> groups, TimestampMs cap,
                      QueryBudget* budget) {
  GroupMerge merge(*plan);
  std::vector<Member*> members;
  for (Group* const group : groups) {
    members.clear();
    for (const GroupMember& entry : group->members) members.push_back(entry.member);
    CO_TRY_VOID(merge.merge(members, cap, group->answer, *budget));
  }
  co_return Result<void>{};
}

// The number of merge tasks. To wake a thread costs as much as about a thousand points.
std::size_t merge_tasks(const std::vector<Group*>& groups) {
  constexpr std::size_t kTasksMax = 16;
  constexpr std::size_t kPointsTogether = 1 << 16;
  constexpr std::size_t kPointsOfGroup = 16;  // the overhead of a group, in points
  std::size_t points = 0;
  for (const Group* const group : groups) {
    points += kPointsOfGroup;
    for (const GroupMember& entry : group->members) points += entry.member->points.size();
  }
  return std::clamp<std::size_t>(std::min(groups.size(), points / kPointsTogether), 1, kTasksMax);
}

Task<void> merge_all(const SubPlan* plan, std::vector<Group*> groups, TimestampMs cap,
                     QueryBudget* budget) {
  const std::size_t count = merge_tasks(groups);
  if (count == 1) {
    auto merging = merge_some(plan, std::move(groups), cap, budget);
    co_return co_await std::move(merging);
  }
  std::vector<std::vector<Group*>> parts(count);
  for (std::size_t i = 0; i < groups.size(); ++i) parts[i % parts.size()].push_back(groups[i]);
  std::vector<Task<void>> tasks;
  for (auto& part : parts) tasks.push_back(merge_some(plan, std::move(part), cap, budget));
  auto gathering = gather(std::move(tasks), count);
  const std::vector<Result<void>> outcomes = co_await std::move(gathering);
  for (const Result<void>& outcome : outcomes) {
    if (!outcome) co_return std::unexpected(outcome.error());
  }
  co_return Result<void>{};
}

// The first and last time of a group's answer.
struct Extent {
  TimestampMs first = std::numeric_limits<TimestampMs>::max();
  TimestampMs last = std::numeric_limits<TimestampMs>::min();
};

Extent extent_of(const Group& group, TimeRange asked) {
  Extent extent;
  for (const GroupMember& entry : group.members) {
    const std::vector<TimestampMs>& times = entry.member->points.times;
    const auto begin = std::ranges::lower_bound(times, asked.begin);
    const auto end = std::ranges::lower_bound(times, asked.end);
    if (begin == end) continue;
    extent.first = std::min(extent.first, *begin);
    extent.last = std::max(extent.last, *(end - 1));
  }
  return extent;
}

// Whether merging the groups gives the result of reading all of `whole` (plan/plan.h). The groups
// contain all selected series, completely read by the narrow plan and not yet merged.
bool needs_no_neighbours(const std::vector<Group*>& groups, std::size_t series_selected,
                         const SubPlan& narrow, const SubPlan& whole) {
  const bool begin_is_cut = narrow.downsample->points.begin > whole.downsample->points.begin;
  const bool end_is_cut = narrow.downsample->points.end < whole.downsample->points.end;
  std::size_t members = 0;
  for (const Group* const group : groups) {
    members += group->members.size();
    const Extent extent = extent_of(*group, narrow.asked);
    for (const GroupMember& entry : group->members) {
      const std::vector<TimestampMs>& times = entry.member->points.times;
      if (times.empty()) return false;
      if (begin_is_cut && times.front() > extent.first) return false;
      if (end_is_cut && times.back() < extent.last) return false;
    }
  }
  return members == series_selected;
}

}  // namespace

storage::SeriesQuery series_query(const SubQuestion& question, bool skip_unknown_values) {
  storage::SeriesQuery query;
  query.skip_unknown_values = skip_unknown_values;
  if (!question.tsuids.empty()) {
    query.tsuids = question.tsuids;
    return query;
  }
  query.metric = question.metric;
  for (const Filter& filter : question.filters) query.filters.push_back(filter.filter);
  // Without filters, explicit_tags has no effect: OpenTSDB selects all series.
  query.explicit_tags = question.explicit_tags && !question.filters.empty();
  return query;
}

Task<std::vector<AnswerSeries>> run_sub_query(
    storage::PointStore& store, storage::BlockSource& source, storage::Metadata* metadata,
    std::shared_ptr<const storage::Selection> selection, const SubQuestion& question,
    const SubPlan& plan, std::size_t query_index, std::shared_ptr<QueryBudget> shared_budget,
    FetchMeter& meter) {
  QueryBudget& budget = *shared_budget;
  Fetch fetch(store, source, plan, shared_budget, meter);
  fetch.select(selection);
  Groups groups(question, plan);
  WindowLength window_length(plan.scan, budget.limits());
  // Filled series are merged only at the end, so shorter windows do not help.
  const bool filled = plan.downsample && plan.downsample->fill != FillPolicy::kNone;
  std::uint64_t answered = budget.cost().points_out;
  for (TimestampMs at = plan.scan.begin; at < plan.scan.end;) {
    const std::int64_t left = plan.scan.end - at;
    const TimeRange window{.begin = at, .end = at + std::min(left, window_length.length())};
    std::optional<QueryBudget::Timed> timed(std::in_place, budget, Stage::kRead);
    const bool whole = filled || plan.from_view;
    auto reading = fetch.read(window, whole ? 0 : window_length.bytes_max());
    CO_TRY(const WindowOutcome outcome, co_await std::move(reading));
    if (outcome == WindowOutcome::kTooLarge) {
      window_length.was_too_large();
      continue;
    }
    window_length.took(fetch.window_bytes());
    groups.add(fetch.take_new());
    TimestampMs cap = std::numeric_limits<TimestampMs>::max();
    if (window.end < plan.scan.end) {
      cap = plan.final_until(window.end);
      auto looking = fetch.look_ahead(laggards(groups, window, plan.rate.has_value()), window.end);
      CO_TRY_VOID(co_await std::move(looking));
    }
    timed.emplace(budget, Stage::kMerge);
    auto merging = merge_all(&plan, groups.all(), cap, &budget);
    CO_TRY_VOID(co_await std::move(merging));
    fetch.recount();
    const std::uint64_t points_out = budget.cost().points_out;
    CO_TRY_VOID(budget.add_bytes(
        static_cast<std::int64_t>((points_out - answered) * PointColumns::kBytesPerPoint)));
    answered = points_out;
    at = window.end;
  }
  if (plan.empty_series_count) {
    for (const storage::Series* const series : fetch.empty_series()) groups.add_empty(*series);
  }
  if (plan.from_view) {
    auto listing = store.lookup(selection, 0);
    CO_TRY(const storage::PinnedSeries behind, co_await std::move(listing));
    for (const storage::SeriesId id : behind) groups.add_behind(store.series(id));
  }
  const QueryBudget::Timed timed(budget, Stage::kAnnotations);
  if (metadata != nullptr && metadata->annotations().options().among_points) {
    const std::size_t notes_max = metadata->annotations().options().answer_max;
    CO_TRY_VOID(distribute_annotations(fetch.take_annotations(), notes_max, groups));
  } else if (metadata != nullptr) {
    auto finding = find_annotations(store, *metadata, std::move(selection), question, plan, groups);
    CO_TRY_VOID(co_await std::move(finding));
  }
  co_return groups.take_answers(query_index);
}

Task<std::optional<std::vector<AnswerSeries>>> run_narrow_sub_query(
    storage::PointStore& store, storage::Metadata* metadata,
    std::shared_ptr<const storage::Selection> selection, const SubQuestion& question,
    const SubPlan& narrow, const SubPlan& whole, std::size_t query_index,
    std::shared_ptr<QueryBudget> shared_budget, FetchMeter& meter) {
  using Answers = std::optional<std::vector<AnswerSeries>>;
  QueryBudget& budget = *shared_budget;
  std::size_t selected = 0;
  for (const storage::ShardSeriesCount& share : store.series_by_shard(*selection)) {
    if (share.series == 0) co_return Answers();  // unknown number
    selected += share.series;
  }
  Fetch fetch(store, store, narrow, shared_budget, meter);
  fetch.select(selection);
  std::optional<QueryBudget::Timed> timed(std::in_place, budget, Stage::kRead);
  auto reading = fetch.read(narrow.scan, 0);
  CO_TRY_VOID(co_await std::move(reading));
  Groups groups(question, narrow);
  groups.add(fetch.take_new());
  if (!needs_no_neighbours(groups.all(), selected, narrow, whole)) co_return Answers();
  const std::uint64_t answered = budget.cost().points_out;
  timed.emplace(budget, Stage::kMerge);
  auto merging = merge_all(&narrow, groups.all(), std::numeric_limits<TimestampMs>::max(), &budget);
  CO_TRY_VOID(co_await std::move(merging));
  fetch.recount();
  CO_TRY_VOID(budget.add_bytes(static_cast<std::int64_t>((budget.cost().points_out - answered) *
                                                         PointColumns::kBytesPerPoint)));
  timed.emplace(budget, Stage::kAnnotations);
  if (metadata != nullptr) {
    auto finding =
        find_annotations(store, *metadata, std::move(selection), question, whole, groups);
    CO_TRY_VOID(co_await std::move(finding));
  }
  co_return Answers(groups.take_answers(query_index));
}

}  // namespace halite::query
