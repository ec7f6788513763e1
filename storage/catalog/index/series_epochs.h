// Decides when removed objects can be freed. Readers take a pin before they read; what was removed
// is freed when all older pins are released.
//
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "storage/api/series.h"

namespace halite::storage {

class SeriesEpochs {
 public:
  SeriesEpochs();

  // A pin of the current epoch.
  [[nodiscard]] std::shared_ptr<const SeriesPin> take() const;

  // Begins an epoch. Its pins see all changes made before this call. `series_go`: series were
  // removed, so results about ids from earlier epochs are stale.
  std::uint64_t advance(bool series_go = true);

  // Whether all pins of earlier epochs are released; then the effects of their owners are visible.
  [[nodiscard]] bool released_before(std::uint64_t epoch) const;

 private:
  // Pins may outlive the object.
  struct Shared {
    std::mutex mutex;
    std::set<std::uint64_t> pinned;  // epochs; guarded by mutex
  };
  [[nodiscard]] std::shared_ptr<const SeriesPin> make(SeriesPin pin) const;

  const std::shared_ptr<Shared> shared_;
  mutable std::mutex mutex_;
  std::shared_ptr<const SeriesPin> current_;  // guarded by mutex_
};

}  // namespace halite::storage
