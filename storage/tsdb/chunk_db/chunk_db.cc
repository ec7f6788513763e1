#include "storage/tsdb/chunk_db/chunk_db.h"

#include <tuple>
#include <utility>

namespace halite::storage::engine {

Result<std::unique_ptr<ChunkDb>> ChunkDb::open(const ChunkDbOptions& options) {
  TRY(std::unique_ptr<ChunkTables> tables, ChunkTables::open(options));
  auto chunks = std::make_unique<ChunkDb>(std::move(tables));
  TRY_VOID(chunks->states.load());
  if (!options.read_only) TRY_VOID(chunks->tables->remove_unfinished_files());
  TRY_VOID(chunks->views.renew());
  return chunks;
}

ChunkDb::ChunkDb(std::unique_ptr<ChunkTables> opened)
    : tables(std::move(opened)),
      states(*tables),
      views(*tables, states),
      files(*tables, states, views) {}

Result<void> ChunkDb::close() {
  views.close();
  return tables->close();
}

// Still open only after a failed open(), or in a test.
ChunkDb::~ChunkDb() { std::ignore = close(); }

}  // namespace halite::storage::engine
