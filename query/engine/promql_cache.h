// Answers of range queries in PromQL. The next query of the same expression takes from them the
// times whose samples did not change, and evaluates only the others: a dashboard asks for almost
// the same times again and again.
//
//   Exact    An answer is used only where the store says that no sample of it changed
//            (storage/api/point_changes.h), and none of them can have expired. A sum over several
//            shards may have another last digit, as it may when it is evaluated again.
//   Threads  call from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "query/engine/promql.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"
#include "query/query_budget.h"
#include "storage/api/point_changes.h"
#include "storage/api/point_store.h"

namespace halite::query {

class PromqlCache {
 public:
  // bytes_max: query.promql_cache_bytes_max. The registry outlives it.
  PromqlCache(std::uint64_t bytes_max, prometheus::Registry& registry);

  struct KeptAnswer {
    promql::Steps steps;
    std::vector<promql::Row> rows;             // in the order of labels
    std::shared_ptr<const std::string> texts;  // of the labels
    std::vector<std::string> infos;
    std::uint64_t bytes = 0;
  };

  // What a query takes from the cache, and where its answer goes.
  struct Use {
    std::string key;  // empty: its answer is not for the cache
    storage::PointChanges::Mark mark = 0;
    std::shared_ptr<const KeptAnswer> kept;  // null: nothing to take
    std::size_t steps = 0;                   // the first ones of the query, which `kept` has
  };
  // Call it before the query reads samples. The durations of the expression are resolved.
  [[nodiscard]] Use look_up(const PromqlQuestion& question, const promql::Expr& expr,
                            std::int64_t lookback_ms, storage::PointStore& store);
  // Keeps the answer to all steps of the question, if it is not too large, and the question was
  // asked before.
  void keep(Use use, const PromqlAnswer& answer);

  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const KeptAnswer> kept;
    storage::PointChanges::Mark mark = 0;  // no sample changed between its evaluation and this
  };
  using Entries = std::list<Entry>;

  // Whether the key was asked before; remembers it.
  [[nodiscard]] bool is_repeated(std::string_view key);
  // Needs mutex_. Moves an entry to `removed`, so that its memory is freed without the mutex.
  void remove(Entries::iterator entry, Entries& removed);

  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;  // guards the next four
  Entries entries_;           // those that were used last are first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;
  std::uint64_t bytes_ = 0;
  std::array<std::size_t, 4096> asked_ = {};  // hashes of keys, each at its remainder

  prometheus::Counter& steps_taken_;
  prometheus::Counter& steps_evaluated_;
  prometheus::Gauge& bytes_gauge_;
};

// The steps of a query that remain to be evaluated, if there are any.
[[nodiscard]] std::optional<promql::Steps> rest_of(const promql::Steps& steps,
                                                   const PromqlCache::Use& use);

// Adds the kept steps to the answer to the remaining ones. False: all steps may have other infos.
// The labels then also use `use.kept->texts`, which the caller keeps alive.
Result<bool> join(const PromqlCache::Use& use, const promql::Steps& steps, QueryBudget& budget,
                  PromqlAnswer& answer);

}  // namespace halite::query
