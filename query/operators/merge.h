// Merges the members of a group into one series. At every time at which a member has a point, the
// value is the aggregate of all members between their first and last points. Members without a
// point at that time are interpolated.
//
//   Types    a point is an integer if no member's last or next point is a double. As in OpenTSDB,
//            a double makes the point before it a double too.
//   Rates    a member without a point counts with its last rate. Its first rate is never answered,
//            but counts from the very beginning until the second point.
//   Pieces   each call merges up to where every member's next point is known. The next call goes
//            on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "query/answer.h"
#include "query/operators/columns.h"
#include "query/plan/plan.h"
#include "query/query_budget.h"

namespace halite::storage {
struct Series;
}

namespace halite::query {

// The time of a point that never comes.
inline constexpr TimestampMs kNever = std::numeric_limits<TimestampMs>::max();

struct MergePoint {
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
};

// A series in its group. The scan appends to `points`, the merge consumes them.
struct Member {
  PointColumns points;          // processed, not yet merged
  MergePoint current;           // the last point merged
  TimestampMs final_until = 0;  // nothing earlier will be appended to `points`
  bool has_current = false;
  bool seeded = false;    // rates: the first one stands in `current`
  bool finished = false;  // nothing at all will be appended to `points`

  // How many more points this member needs before its group can be merged further.
  [[nodiscard]] std::size_t missing(bool rate) const {
    if (finished) return 0;
    if (rate && !seeded) return points.size() < 2 ? 2 - points.size() : 0;
    return points.empty() && has_current ? 1 : 0;
  }
};

struct GroupMember {
  const storage::Series* series = nullptr;
  Member* member = nullptr;
};

class GroupMerge {
 public:
  // The plan outlives it.
  explicit GroupMerge(const SubPlan& plan) : plan_(&plan) {}

  // Merges `members`, in the order in which they combine, as far as possible before `cap`. Appends
  // the points to `out`.
  [[nodiscard]] Result<void> merge(std::span<Member* const> members, TimestampMs cap,
                                   AnswerSeries& out, QueryBudget& budget);

 private:
  // A member, with its two points around the current time.
  struct GroupSlot {
    Member* member = nullptr;
    std::size_t at = 0;  // of `next` in the member's points
    MergePoint current;
    MergePoint next;  // time kNever: none
    bool has_current = false;
  };

  // Copies the points instead.
  [[nodiscard]] Result<void> copy(Member& member, TimestampMs cap, AnswerSeries& out,
                                  QueryBudget& budget) const;
  TimestampMs load(std::span<Member* const> members);
  void load_seed(GroupSlot& slot) const;
  void load_next(GroupSlot& slot) const;
  void store();
  TimestampMs step(TimestampMs time);
  void leave(GroupSlot& slot);

  // Runs of times at which every member has a point of one type (merge_run.cc).
  struct Run {
    std::size_t length = 0;
    bool integers = false;
  };
  [[nodiscard]] Run find_run(TimestampMs time, TimestampMs end);
  [[nodiscard]] bool gather_run(TimestampMs time, TimestampMs& end, bool& waiting_float);
  Result<void> merge_run(Run run, AnswerSeries& out);
  TimestampMs after_run(Run run);
  Result<void> check_infinity(const AnswerSeries& out, std::size_t from) const;

  Result<void> emit(TimestampMs time, AnswerSeries& out);
  [[nodiscard]] std::int64_t integer_at(const GroupSlot& slot, TimestampMs time) const;
  [[nodiscard]] double double_at(const GroupSlot& slot, TimestampMs time) const;

  const SubPlan* plan_;
  std::vector<GroupSlot> slots_;
  std::vector<TimestampMs> next_times_;  // of slots_, side by side
  std::vector<std::size_t> ended_;       // slots whose last point was just merged
  std::size_t float_points_ = 0;         // doubles among all current and next points
  std::vector<std::size_t> in_run_;      // slots that have a point at every time of the run
  std::vector<std::int64_t> integers_;
  std::vector<double> doubles_;
};

}  // namespace halite::query
