#include "storage/tsdb/chunk_db/tables/damage.h"

namespace halite::storage::engine {

Damage::Damage(prometheus::Registry& registry)
    : rocks::Damage(registry,
                    {.metrics = "halite_engine",
                     .of = "stored points are",
                     .then = "Questions that need them fail; all others, new points and sealing go "
                             "on without them. Stop the server and restore the data directory from "
                             "a copy to have them back"}) {}

void Damage::note_failed_merge(const Error& error) {
  note(error);
  failed_merge_ = true;
}

}  // namespace halite::storage::engine
