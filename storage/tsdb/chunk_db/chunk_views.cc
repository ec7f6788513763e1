#include "storage/tsdb/chunk_db/chunk_views.h"

#include <utility>

namespace halite::storage::engine {

std::unique_ptr<ShardView> ChunkViews::shard_view(std::uint32_t shard, ReadSource from) const {
  std::shared_ptr<Snapshot> newest;
  {
    const std::lock_guard lock(mutex_);
    newest = snapshot_;
  }
  return std::make_unique<ShardView>(std::move(newest), shard, from);
}

Result<ChunkViews::View> ChunkViews::view(BytesView begin, BytesView end) const {
  View view;
  FlushMark before;
  do {
    TRY(before, states_.stored_mark());
    view.cursor = tables_.points(begin, end);
    TRY(view.mark, states_.stored_mark());
  } while (view.mark != before);  // retry if a flush came between
  return view;
}

std::unique_ptr<Cursor> ChunkViews::late_cells(BytesView begin, BytesView end) const {
  return tables_.cells(tables_.late(), begin, end);
}

bool ChunkViews::any_with(BytesView prefix) const {
  const std::unique_ptr<Cursor> cursor = tables_.points(prefix, prefix_end(prefix));
  cursor->seek(prefix);
  return cursor->valid() || !cursor->status();
}

Result<void> ChunkViews::renew() {
  std::uint64_t above_merged = 0;
  for (auto* const family : {tables_.chunks(), tables_.late(), tables_.summaries()}) {
    TRY(const std::uint64_t files, tables_.count_files(family, 1));
    above_merged += files;
  }
  const Snapshot::Families families = {.chunks = tables_.chunks(),
                                       .late = tables_.late(),
                                       .summaries = tables_.summaries(),
                                       .damage = &tables_.damage()};
  const bool keeps_cursors =
      above_merged <= static_cast<std::uint64_t>(tables_.options().open_files_max);
  auto fresh = std::make_shared<Snapshot>(tables_.db(), families, keeps_cursors);
  SlotStates::Current current = states_.current();
  fresh->mark = current.mark;
  fresh->unsealed = std::move(current.unsealed);
  const std::lock_guard lock(mutex_);
  std::swap(snapshot_, fresh);  // its last reader destroys the old one
  return {};
}

void ChunkViews::close() {
  const std::lock_guard lock(mutex_);
  snapshot_.reset();
}

}  // namespace halite::storage::engine
