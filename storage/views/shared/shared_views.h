// Views of points that several servers and OpenTSDB write: one of the servers computes them, as
// rollups that all read (docs/decisions/0080).
//
//   Threads   keep_lease() from one thread, build_some() from another, the others from any.
//   Lifetime  it outlives running calls. Call release() last.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/views/shared/changed_rows.h"
#include "storage/views/shared/rollup_views.h"
#include "storage/views/shared/view_lease.h"
#include "storage/views/view_store.h"

namespace halite::storage {

struct SharedViewStatus {
  std::string holder;  // the host of the server that computes the views; empty: none is known
  bool holds = false;  // it is this server
  // Without the lease only the rules and the built units are known, as of some seconds ago.
  std::vector<ViewStatus> views;
};

class SharedViews {
 public:
  static constexpr std::int64_t kLookMs = 60'000;  // between two looks for changes
  // status() without the lease reads the table at most so often.
  static constexpr std::int64_t kStatusMs = 10'000;
  // A look also finds changes from so long before the previous one, because clocks differ and
  // writes are on their way.
  static constexpr std::int64_t kLookOverlapMs = 120'000;

  struct Dependencies {
    ViewStore::Dependencies views;  // its sink is ignored
    const RollupTables& rollups;
    PointRowsTable points;
    AggregateNames names;
    Bytes lease_id;    // see ViewLease
    std::string host;  // for display
  };

  // kInvalidArgument: see check_rollup_views().
  static Task<std::unique_ptr<SharedViews>> open(Dependencies dependencies,
                                                 std::vector<ViewRule> rules, ViewLimits limits);
  ~SharedViews();

  // Call it every ViewLease::kRenewMs.
  Task<void> keep_lease() { return lease_.step(); }
  // Computes some units, and looks for changes if it is time. False: nothing to do now, or another
  // server computes the views.
  Task<bool> build_some();
  // Gives up the lease. No build_some() may run or follow.
  Task<void> release();

  // Computes all units of a view anew, in the background. kNotFound: there is no such view.
  // kConflict: another server computes the views; the error names it.
  Task<void> rebuild(std::string name);
  Task<SharedViewStatus> status();

 private:
  SharedViews(Dependencies dependencies, std::vector<ViewRule> rules, ViewLimits limits,
              std::shared_ptr<Table> table);

  Task<void> load(std::uint64_t term);
  Task<bool> work(std::uint64_t term);
  Task<void> look();
  Task<void> write_looked(std::uint64_t term, TimestampMs time);
  Task<std::vector<ViewStatus>> read_status();
  [[nodiscard]] std::shared_ptr<ViewStore> views() const;
  void set_views(std::shared_ptr<ViewStore> views);

  const Dependencies dependencies_;
  const std::vector<ViewRule> rules_;
  const ViewLimits limits_;
  const std::shared_ptr<Table> table_;
  ViewLease lease_;
  UnreadableRows unreadable_;

  // The views as loaded in one term of the lease. It writes nothing after the term.
  struct Term;

  // For build_some() only.
  std::uint64_t term_ = 0;       // for which the views are loaded; 0: none
  TimestampMs looked_ms_ = 0;    // begin of the last look, as stored
  std::int64_t looked_us_ = -1;  // the same by the steady clock; -1: none in this term

  mutable std::mutex mutex_;
  std::shared_ptr<ViewStore> views_;  // null without the lease; guarded by mutex_
  std::vector<ViewStatus> status_;    // as read from the table; guarded by mutex_
  std::int64_t status_us_ = -1;       // when; -1: never; guarded by mutex_
};

}  // namespace halite::storage
