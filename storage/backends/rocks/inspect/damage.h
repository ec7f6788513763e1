// Reports stored data that cannot be read: logs each place once, and counts all reads.
//
// Repairs and removes nothing. Reads of damaged data fail with the error; all others continue
// (docs/operate/damage.md).
//
//   Threads  Call from any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "common/result.h"

namespace halite::storage::rocks {

class Damage {
 public:
  struct DamageMessages {
    std::string metrics;  // "halite_engine": _damaged_reads_total, _damaged_places
    std::string of;       // what is damaged: begins the log line: "stored points are"
    std::string then;     // the consequence: ends the log line
  };
  Damage(prometheus::Registry& registry, DamageMessages words);

  // Reports an error of a read, if it is kCorruption.
  void note(const Error& error);
  // Reports the error of a result, and returns the result.
  template <class T>
  Result<T> noted(Result<T> outcome) {
    if (!outcome) note(outcome.error());
    return outcome;
  }

 private:
  static constexpr std::size_t kPlacesMax = 1000;  // further ones are counted, but not logged

  const DamageMessages words_;
  std::mutex mutex_;
  std::set<std::string> places_;  // guarded by mutex_
  prometheus::Counter& reads_;
  prometheus::Gauge& found_;
};

}  // namespace halite::storage::rocks
