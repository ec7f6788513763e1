#include "storage/engine/damage.h"

#include "common/log.h"
#include "common/metrics.h"

namespace halite::storage::engine {
namespace {

// RocksDB says " in <file> offset <n> size <n>"; where it does not, the whole text is the place.
std::string place_of(const std::string& message) {
  const std::size_t in = message.rfind(" in ");
  return in == std::string::npos ? message : message.substr(in + 4);
}

}  // namespace

Damage::Damage(prometheus::Registry& registry)
    : reads_(add_counter(registry, "halite_engine_damaged_reads_total",
                         "Times that something stored was wanted and could not be read because its "
                         "file is damaged or gone.")),
      found_(add_gauge(registry, "halite_engine_damaged_places",
                       "Damaged places of files of chunks that were met since the start; the log "
                       "names them.")) {}

void Damage::note(const Error& error) {
  if (error.code != Errc::kCorruption) return;
  reads_.Increment();
  const std::lock_guard lock(mutex_);
  if (places_.size() >= kPlacesMax) return;
  if (!places_.insert(place_of(error.message)).second) return;
  found_.Set(static_cast<double>(places_.size()));
  log::error(
      "stored points are damaged: {}. Questions that need them fail; all others, new points "
      "and sealing go on without them. Stop the server and restore the data directory from a copy "
      "to have them back",
      error.message);
  if (places_.size() == kPlacesMax) {
    log::error("{} damaged places are named above; more are only counted", kPlacesMax);
  }
}

void Damage::note_failed_merge(const Error& error) {
  note(error);
  failed_merge_ = true;
}

}  // namespace halite::storage::engine
