#include "storage/tsdb/maintenance/seal_batch.h"

#include <utility>

namespace halite::storage::engine {

void SealBatch::finish_slot() {
  for (auto* const file : {&files_.sealed, &files_.summaries}) {
    if (*file == nullptr) continue;
    done_bytes_ += (*file)->bytes();
    done_.push_back(std::move(*file));
  }
}

Result<SeriesRewrite::Files*> SealBatch::files_for(const Partition& partition) {
  if (partition != partition_) {
    finish_slot();
    // The keys of two periods of one slot would not ascend.
    if (partition.shard == partition_.shard && partition.slot == partition_.slot)
      TRY_VOID(commit());
    partition_ = partition;
  }
  return &files_;
}

void SealBatch::seals(const Partition& partition, const UnsealedRange& line, bool early) {
  (early ? changes_.sealed_early : changes_.sealed).push_back(partition);
  touches_[partition] = line.touches;
}

// A flush or a delete may have come while later partitions were sealed.
void SealBatch::keep_touched() {
  const std::shared_ptr<const UnsealedRanges> now = context_.chunks->states.unsealed();
  const auto touched = [&](const Partition& partition) {
    const auto line = now->find(partition);
    return line != now->end() && line->second.touches != touches_.at(partition);
  };
  std::erase_if(changes_.sealed, touched);
  std::erase_if(changes_.sealed_early, touched);
  touches_.clear();
}

bool SealBatch::full() const {
  return done_bytes_ + (files_.sealed == nullptr ? 0 : files_.sealed->bytes()) >= kBytesMax;
}

Result<void> SealBatch::commit() {
  finish_slot();
  if (files_.late != nullptr) done_.push_back(std::move(files_.late));
  keep_touched();
  if (done_.empty() && changes_.sealed.empty() && changes_.sealed_early.empty()) return {};
  changes_.sealing = true;
  const SlotChanges changes = std::exchange(changes_, {});
  const std::uint64_t before = context_.chunks->tables->written().sealed;
  TRY_VOID(context_.chunks->files.ingest(std::exchange(done_, {}), context_.chunks->states.mark(),
                                         changes));
  bytes_taken_ += context_.chunks->tables->written().sealed - before;
  done_bytes_ = 0;
  return {};
}

}  // namespace halite::storage::engine
