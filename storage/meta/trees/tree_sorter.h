// Sorts new series into all enabled trees.
//
// Trees are cached. Edits in this process take effect at once, those of other processes within
// kReloadMs.
//
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/meta/objects/ts_meta_store.h"
#include "storage/meta/trees/tree_builder.h"
#include "storage/meta/trees/tree_store.h"

namespace halite::storage {

class TreeSorter {
 public:
  // All must outlive it.
  TreeSorter(TreeStore& trees, TsMetaStore& series, const Clock& clock)
      : trees_(trees), series_(series), clock_(clock) {}

  // Adds a series with a TSMeta object. Logs errors of a tree and continues with the others.
  Task<void> add(Bytes tsuid);

 private:
  static constexpr std::int64_t kReloadMs = 60'000;
  using Builders = std::vector<std::shared_ptr<const TreeBuilder>>;

  Task<std::shared_ptr<const Builders>> enabled();

  TreeStore& trees_;
  TsMetaStore& series_;
  const Clock& clock_;
  std::mutex mutex_;  // guards all members below
  std::shared_ptr<const Builders> builders_;
  std::uint64_t version_ = 0;  // version of the cached trees
  TimestampMs loaded_ms_ = 0;
};

}  // namespace halite::storage
