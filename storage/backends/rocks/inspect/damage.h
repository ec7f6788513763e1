// What of stored files cannot be read: said in the process's log once a place, counted always.
//
// Nothing is repaired and nothing is removed. Who needs what is there fails with the error; all
// else goes on without it (docs/operate/damage.md).
//
//   Threads  any call from any thread.
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
    std::string of;       // what is damaged, as a line of the log begins: "stored points are"
    std::string then;     // what follows from it, as it ends
  };
  Damage(prometheus::Registry& registry, DamageMessages words);

  // An error of reading. Counts where it is kCorruption.
  void note(const Error& error);
  // The same of an outcome, which is handed on.
  template <class T>
  Result<T> noted(Result<T> outcome) {
    if (!outcome) note(outcome.error());
    return outcome;
  }

 private:
  static constexpr std::size_t kPlacesMax = 1000;  // more are counted, but not said

  const DamageMessages words_;
  std::mutex mutex_;
  std::set<std::string> places_;  // guarded by mutex_
  prometheus::Counter& reads_;
  prometheus::Gauge& found_;
};

}  // namespace halite::storage::rocks
