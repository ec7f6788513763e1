// Metrics of the store as a whole: whether it is ready, and the space of its disk.
#pragma once

#include <memory>
#include <string>

#include "app/settings/options.h"
#include "app/stores/stores.h"
#include "storage/files/files.h"

namespace prometheus {
class Gauge;
class Registry;
}  // namespace prometheus

namespace halite::app {

// One thread may refresh while others read the registry.
class StoreMetrics {
 public:
  // The stores and the registry outlive this object. A store without a data directory has no
  // metrics of a disk.
  StoreMetrics(const Options& options, const Stores& stores, prometheus::Registry& registry);

  void refresh();

 private:
  const Stores& stores_;
  const std::shared_ptr<storage::FileSystem> files_;
  const std::string data_dir_;  // empty: none
  prometheus::Gauge& ready_;
  prometheus::Gauge* disk_free_bytes_ = nullptr;  // null without a data directory
  prometheus::Gauge* disk_bytes_ = nullptr;
  bool unreadable_ = false;  // the space of the disk was not known last time; logged once
};

}  // namespace halite::app
