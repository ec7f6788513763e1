// A backend with the parts that every kind of store has: metadata, rollups, histograms, file
// checks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/server/view_builder_thread.h"
#include "app/server/view_lease_thread.h"
#include "app/stores/backend.h"
#include "app/stores/shared_views.h"
#include "app/stores/sides.h"
#include "app/stores/stores.h"

namespace halite::app {

class OpenedStores final : public Stores {
 public:
  explicit OpenedStores(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // Call it once. After an error, call close().
  [[nodiscard]] Result<void> open(const Options& options, const Clock& clock,
                                  prometheus::Registry& registry, const ReplayWatch& replayed);

  storage::PointStore& points() override { return metadata_->points(); }
  storage::Metadata& metadata() override { return *metadata_; }
  storage::CounterStore& counters() override { return *sides_.counters; }
  storage::ViewStore* views() override { return views_.get(); }
  [[nodiscard]] Result<void> set_counter_rules(const Options& options) override;
  [[nodiscard]] Result<void> set_view_rules(const Options& options) override;
  storage::SharedViews* shared_views() override { return shared_views_.get(); }
  storage::RollupTables* rollups() override { return sides_.rollups.get(); }
  storage::HistogramCells* histograms() override { return sides_.histograms.get(); }
  [[nodiscard]] Result<void> health() const override;
  void drop_caches() override { backend_.wide->drop_caches(); }
  [[nodiscard]] std::vector<MemoryUser> memory_users() override;
  std::unique_ptr<storage::CardinalityCounter> make_cardinality_counter(
      const Clock& clock, boost::asio::any_io_executor executor) override;
  [[nodiscard]] std::vector<storage::RetentionStatus> retention_status() const override {
    return backend_.points->retention_status();
  }
  Task<storage::TableRegions> table_regions() override;
  Result<std::unique_ptr<storage::PointLoader>> make_point_loader(const PointLoad& how) override;
  storage::check::Scrub* scrub() override { return scrub_.get(); }
  Result<void> checkpoint(const std::string& dir) override;
  Result<void> close() override;

 private:
  [[nodiscard]] Result<void> open_metadata(const OpenContext& context,
                                           const storage::MetadataOptions& options);
  // True if ids of names must never be freed.
  [[nodiscard]] Result<bool> keep_names(const std::string& settings_table);
  void begin_scrub(const OpenContext& context);
  void begin_view_builder();

  [[nodiscard]] bool has_sides() const {
    return sides_.rollups != nullptr || sides_.histograms != nullptr;
  }

  const boost::asio::any_io_executor executor_;
  Backend backend_;
  std::unique_ptr<storage::check::Scrub> scrub_;  // null without local files
  std::unique_ptr<storage::ViewStore> views_;     // null: not available
  std::unique_ptr<storage::Metadata> metadata_;
  Sides sides_;
  std::unique_ptr<storage::SharedViews> shared_views_;  // null: there are none
  std::uint32_t views_cpu_percent_ = 0;                 // 0: views are not computed
  std::optional<ViewLeaseThread> view_lease_;           // of shared views
  std::optional<ViewBuilderThread> view_builder_;       // ends before the stores
};

}  // namespace halite::app
