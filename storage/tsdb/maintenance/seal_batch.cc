#include "storage/tsdb/maintenance/seal_batch.h"

#include <utility>

namespace halite::storage::engine {

void SealBatch::finish_place() {
  for (auto* const file : {&files_.sealed, &files_.summaries}) {
    if (*file == nullptr) continue;
    done_bytes_ += (*file)->bytes();
    done_.push_back(std::move(*file));
  }
}

Result<SeriesRewrite::Files*> SealBatch::files_for(const SlotLap& lap) {
  if (lap != lap_) {
    finish_place();
    // Of two laps of one place keys would not ascend.
    if (lap.shard == lap_.shard && lap.slot == lap_.slot) TRY_VOID(take_in());
    lap_ = lap;
  }
  return &files_;
}

void SealBatch::seals(SlotLap lap, bool early) {
  (early ? changes_.sealed_early : changes_.sealed).push_back(lap);
}

bool SealBatch::full() const {
  return done_bytes_ + (files_.sealed == nullptr ? 0 : files_.sealed->bytes()) >= kBytesMax;
}

Result<void> SealBatch::take_in() {
  finish_place();
  if (files_.late != nullptr) done_.push_back(std::move(files_.late));
  if (done_.empty() && changes_.sealed.empty() && changes_.sealed_early.empty()) return {};
  changes_.sealing = true;
  const SlotChanges changes = std::exchange(changes_, {});
  const std::uint64_t before = core_.chunks->tables->written().sealed;
  TRY_VOID(
      core_.chunks->files.ingest(std::exchange(done_, {}), core_.chunks->states.mark(), changes));
  bytes_taken_ += core_.chunks->tables->written().sealed - before;
  done_bytes_ = 0;
  return {};
}

}  // namespace halite::storage::engine
