// What reading took, for who wants to know where the time went: a WorkWatch that is a ReadCounter,
// too, is told.
#pragma once

#include <cstdint>
#include <memory>

#include "common/work_watch.h"

namespace halite::storage {

struct ReadWork {
  std::uint64_t chunks_decoded = 0;
  std::uint64_t chunks_skipped = 0;  // met, but nothing in them was wanted
  std::uint64_t totals = 0;          // spans told by what is kept beside their points
};

class ReadCounter {
 public:
  virtual ~ReadCounter() = default;
  virtual void count_read(const ReadWork& work) = 0;  // any thread
};

// Null where nobody wants to know. As long as the watch lives.
[[nodiscard]] inline ReadCounter* read_counter(const std::shared_ptr<WorkWatch>& watch) {
  return dynamic_cast<ReadCounter*>(watch.get());
}

}  // namespace halite::storage
