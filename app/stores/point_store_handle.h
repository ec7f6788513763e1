// A point store of either kind, cells or engine, with the functions that only one kind has.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/memory_budget.h"
#include "storage/api/point_store.h"
#include "storage/api/slot_status.h"
#include "storage/backends/rocks/files/live_files.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/counters/counter_store.h"
#include "storage/meta/metadata.h"
#include "storage/tsdb/core/options.h"
#include "storage/views/view_store.h"

namespace halite::app {

class PointStoreHandle {
 public:
  virtual ~PointStoreHandle() = default;
  [[nodiscard]] virtual storage::PointStore& store() = 0;
  [[nodiscard]] virtual storage::UidTable& uids() = 0;
  [[nodiscard]] virtual storage::SeriesRegistry& series() = 0;
  [[nodiscard]] virtual Result<void> health() const = 0;
  [[nodiscard]] virtual std::vector<storage::RetentionStatus> retention_status() const = 0;
  [[nodiscard]] virtual std::vector<storage::rocks::LiveFile> chunk_files() const = 0;
  [[nodiscard]] virtual std::vector<MemoryUser> memory_users() = 0;
  // Writes points that are not cells, if any, to `dir`; then calls `cells`.
  virtual Task<void> checkpoint(std::string dir, std::function<Result<void>()> cells) = 0;
  virtual void enable_series_gc(storage::Metadata& except, const storage::CounterStore& counters,
                                storage::ViewStore* views, bool names) = 0;
  virtual Task<void> close() = 0;
};

template <class Store>
class PointStoreHandleOf final : public PointStoreHandle {
 public:
  explicit PointStoreHandleOf(std::unique_ptr<Store> store) : store_(std::move(store)) {}
  storage::PointStore& store() override { return *store_; }
  storage::UidTable& uids() override { return store_->uids(); }
  storage::SeriesRegistry& series() override { return store_->registry(); }
  [[nodiscard]] Result<void> health() const override {
    if constexpr (requires { store_->health(); }) return store_->health();
    return {};  // cells depend on the health of their wide-column store only
  }
  [[nodiscard]] std::vector<storage::RetentionStatus> retention_status() const override {
    if constexpr (requires { store_->retention_status(); }) return store_->retention_status();
    return {};
  }
  [[nodiscard]] std::vector<storage::rocks::LiveFile> chunk_files() const override {
    if constexpr (requires { store_->chunk_files(); }) return store_->chunk_files();
    return {};
  }
  [[nodiscard]] std::vector<MemoryUser> memory_users() override {
    if constexpr (requires { store_->memory_users(); }) return store_->memory_users();
    return {};
  }
  Task<void> checkpoint(std::string dir, std::function<Result<void>()> cells) override {
    if constexpr (requires { store_->checkpoint(dir, cells); }) {
      return store_->checkpoint(std::move(dir), std::move(cells));
    } else {
      return call_it(std::move(cells));
    }
  }
  // Collects series without points, and unused names, except those in metadata, of counters and of
  // views, which may be null.
  void enable_series_gc(storage::Metadata& except, const storage::CounterStore& counters,
                        storage::ViewStore* views, bool names) override {
    if constexpr (requires { store_->enable_series_gc({}); }) {
      storage::GcRules rules;
      rules.keeps = [&except, &counters](std::vector<Bytes> tsuids) {
        std::vector<std::unique_ptr<storage::SeriesIterator>> kept;
        kept.push_back(counters.series_among(tsuids));
        kept.push_back(except.series_among(std::move(tsuids)));
        return std::make_unique<storage::ChainedSeriesIterator>(std::move(kept));
      };
      rules.others = [&except, views] {
        std::vector<std::unique_ptr<storage::SeriesIterator>> others;
        if (views != nullptr) others.push_back(views->groups());
        others.push_back(except.series());
        return std::make_unique<storage::ChainedSeriesIterator>(std::move(others));
      };
      rules.names = names;
      store_->enable_series_gc(std::move(rules));
    }
  }
  Task<void> close() override { return store_->close(); }

 private:
  static Task<void> call_it(std::function<Result<void>()> what) { co_return what(); }

  std::unique_ptr<Store> store_;
};

}  // namespace halite::app
