#include "storage/tsdb/chunk_db/tables/damage.h"

namespace halite::storage::engine {

Damage::Damage(prometheus::Registry& registry)
    : rocks::Damage(registry, {.metrics = "halite_engine",
                               .of = "stored points are",
                               .then = "Queries that need them fail; other queries, new points and "
                                       "sealing are not affected. To recover them, stop the server "
                                       "and restore the data directory from a copy"}) {}

void Damage::note_failed_compaction(const Error& error) {
  note(error);
  failed_compaction_ = true;
}

}  // namespace halite::storage::engine
