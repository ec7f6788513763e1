#include "app/server/store_metrics.h"

#include <prometheus/registry.h>

#include "common/log.h"
#include "common/metrics.h"
#include "storage/files/posix_files.h"

namespace halite::app {

StoreMetrics::StoreMetrics(const Options& options, const Stores& stores,
                           prometheus::Registry& registry)
    : stores_(stores),
      files_(options.environment.files != nullptr ? options.environment.files
                                                  : storage::posix_files()),
      data_dir_(has_data_dir(options.store) ? options.data_dir : std::string()),
      ready_(add_gauge(registry, "halite_process_ready",
                       "1 while the server accepts points, as /-/ready says, otherwise 0.")) {
  if (!data_dir_.empty()) {
    disk_free_bytes_ =
        &add_gauge(registry, "halite_disk_free_bytes",
                   "Bytes that the server may still write to the data directory's disk.");
    disk_bytes_ = &add_gauge(registry, "halite_disk_bytes", "Size of the data directory's disk.");
  }
  refresh();
}

void StoreMetrics::refresh() {
  ready_.Set(stores_.health() ? 1 : 0);
  if (data_dir_.empty()) return;
  const Result<storage::DiskSpace> space = files_->disk_space(data_dir_);
  if (space) {
    disk_free_bytes_->Set(static_cast<double>(space->free_bytes));
    disk_bytes_->Set(static_cast<double>(space->total_bytes));
  } else if (!unreadable_) {
    log::warn("the free space of the disk is unknown: {}", space.error().message);
  }
  unreadable_ = !space;
}

}  // namespace halite::app
