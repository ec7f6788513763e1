// Sorts new series into all trees that are enabled.
//
// Trees are read once and kept: edits made in this process count at once, those of others within
// kReloadMs.
//
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/clock.h"
#include "common/task.h"
#include "storage/meta/objects/ts_meta_store.h"
#include "storage/meta/trees/tree_builder.h"
#include "storage/meta/trees/tree_store.h"

namespace halite::storage {

class TreeSorter {
 public:
  // All outlive it.
  TreeSorter(TreeStore& trees, TsMetaStore& series, const Clock& clock)
      : trees_(trees), series_(series), clock_(clock) {}

  // A series whose TSMeta object is there. What goes wrong in one tree is logged and stops no
  // other.
  Task<void> add(Bytes tsuid);

 private:
  static constexpr std::int64_t kReloadMs = 60'000;
  using Builders = std::vector<std::shared_ptr<const TreeBuilder>>;

  Task<std::shared_ptr<const Builders>> enabled();

  TreeStore& trees_;
  TsMetaStore& series_;
  const Clock& clock_;
  std::mutex mutex_;  // guards all that follows
  std::shared_ptr<const Builders> builders_;
  std::uint64_t version_ = 0;  // of the trees they were made from
  TimestampMs loaded_ms_ = 0;
};

}  // namespace halite::storage
