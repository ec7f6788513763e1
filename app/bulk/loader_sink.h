// Gathers points into large batches and loads them into HBase as files.
//
//   Threads  call from any thread; appends keep their order.
//   Memory   points_max points, and what the loader needs to sort them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <boost/asio/thread_pool.hpp>

#include "app/bulk/import_target.h"
#include "common/threads/semaphore.h"
#include "storage/api/point_sink.h"
#include "storage/backends/hbase/point_load/point_loader.h"

namespace halite::app {

class LoaderSink final : public storage::PointSink {
 public:
  // The store and the loader outlive the sink.
  LoaderSink(storage::PointSink& store, storage::PointLoader& loader, unsigned threads,
             std::size_t points_max);
  ~LoaderSink() override;

  Task<storage::InternedSeries> intern(std::vector<SeriesName> names,
                                       storage::CreateNames create) override {
    return store_.intern(std::move(names), create);
  }
  std::shared_ptr<const storage::SeriesPin> pin_series() override { return store_.pin_series(); }
  [[nodiscard]] const storage::Series& series(storage::SeriesId id) const override {
    return store_.series(id);
  }
  // Loads the batch before, if it is full. `durable` says nothing: points are durable after load().
  Task<storage::Accepted> append(storage::PointBatch batch) override;

  // Loads everything that was appended.
  Task<void> load();

  // Points that the loader refused since the last call.
  [[nodiscard]] ImportTarget::LateRefusals take_refused();

 private:
  Task<void> load_gathered();  // with turn_

  storage::PointSink& store_;
  storage::PointLoader& loader_;
  const std::size_t points_max_;
  boost::asio::thread_pool pool_;
  const std::shared_ptr<Semaphore> turn_;
  // Guarded by turn_.
  storage::PointBatch gathered_;
  std::shared_ptr<const storage::SeriesPin> pin_;  // of the series in gathered_
  std::mutex mutex_;
  ImportTarget::LateRefusals refused_;  // guarded by mutex_
};

}  // namespace halite::app
