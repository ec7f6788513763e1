// Which metrics have counters: a row of the settings table, and its copy in memory.
//
//   Threads  call from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/threads/task.h"
#include "storage/api/point_changes.h"
#include "storage/api/series.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/cells/counters/counter_rules.h"

namespace halite::storage {

class CounterMetrics {
 public:
  // Their names by uid.
  using Names = std::map<Bytes, std::string>;

  // The rules, and `changes` of the points, which may be null, outlive it. A new metric counts as a
  // change of all times: queries found no points of it before, and now find sums.
  CounterMetrics(std::shared_ptr<Table> settings, const CounterRules& rules, PointChanges* changes)
      : settings_(std::move(settings)), changes_(changes), rules_(&rules) {}

  // Those in the settings table. Other calls do not know them before keep().
  Task<Names> stored();
  void keep(const Names& names);
  // The rules of these and of all later ones.
  void set_rules(const CounterRules& rules, const Names& names);

  // Adds metrics, and keeps their names also while they have no series. They are durable when it
  // returns. Those without a uid get one if `create`, otherwise they are left out.
  Task<void> add(UidTable& uids, std::vector<std::string> metrics, bool create);

  // The rule of a metric with counters, or the buckets of those without one; null: no counters.
  [[nodiscard]] const CounterRule* rule_of(std::string_view name) const;
  [[nodiscard]] const CounterRule* rule_of(const Series& series) const;

  // Those tsuids whose metrics have counters. `width`: of a metric's uid.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series_among(const std::vector<Bytes>& tsuids,
                                                             std::size_t width) const;

 private:
  void map_to_rules(const Names& names);  // needs mutex_

  const std::shared_ptr<Table> settings_;
  PointChanges* const changes_;
  mutable std::shared_mutex mutex_;
  // Guarded by mutex_.
  const CounterRules* rules_;
  boost::unordered_flat_map<Bytes, const CounterRule*> by_uid_;
  std::map<std::string, const CounterRule*, std::less<>> by_name_;
};

}  // namespace halite::storage
