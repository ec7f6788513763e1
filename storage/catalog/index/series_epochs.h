// Who may still look at what was taken out of a table: everybody takes a hold before he looks, and
// what was taken out is freed once all holds from before are gone.
//
//   Threads  any call from any thread.
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

  // Of the epoch that there is now.
  [[nodiscard]] std::shared_ptr<const SeriesPin> take() const;

  // Begins an epoch. Holds of it see what was done before this call. Whether series go in it: else
  // what is known of their ids stays good.
  std::uint64_t advance(bool series_go = true);

  // Whether all holds of earlier epochs are gone; then what their holders did is seen.
  [[nodiscard]] bool released_before(std::uint64_t epoch) const;

 private:
  // Outlives the object where a hold does.
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
