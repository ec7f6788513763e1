#include "storage/backends/rocks/inspect/damage.h"

#include <utility>

#include "common/log.h"
#include "common/metrics.h"

namespace halite::storage::rocks {
namespace {

// RocksDB says " in <file> offset <n> size <n>"; otherwise the whole message is the place.
std::string place_of(const std::string& message) {
  const std::size_t in = message.rfind(" in ");
  return in == std::string::npos ? message : message.substr(in + 4);
}

}  // namespace

Damage::Damage(prometheus::Registry& registry, DamageMessages words)
    : words_(std::move(words)),
      reads_(add_counter(registry, words_.metrics + "_damaged_reads_total",
                         "Reads that failed because a file is damaged or missing.")),
      found_(add_gauge(registry, words_.metrics + "_damaged_places",
                       "Damaged places found in files since start-up. The log lists them.")) {}

void Damage::note(const Error& error) {
  if (error.code != Errc::kCorruption) return;
  reads_.Increment();
  const std::lock_guard lock(mutex_);
  if (places_.size() >= kPlacesMax) return;
  if (!places_.insert(place_of(error.message)).second) return;
  found_.Set(static_cast<double>(places_.size()));
  log::error("{} damaged: {}. {}", words_.of, error.message, words_.then);
  if (places_.size() == kPlacesMax) {
    log::error("{} damaged places are listed above; further ones are only counted", kPlacesMax);
  }
}

}  // namespace halite::storage::rocks
