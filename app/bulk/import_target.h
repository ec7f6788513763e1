// Where an import stores its points.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/threads/task.h"
#include "ingest/import/import_batch.h"

namespace halite::app {

// The points of one block of text. For one thread at a time.
class ImportPart {
 public:
  virtual ~ImportPart() = default;
  // Parses lines and returns their number. Call it once; several parts at the same time.
  virtual std::uint64_t parse(const ingest::ImportText& text) = 0;
  // Takes points in place of lines. Refusals name the number of the series, from 1.
  virtual void add(const std::vector<ingest::SeriesPoints>& points) = 0;
  // Stores what was parsed. Call it once, one part after the other in the order of the text.
  // Blocks. After an error points may be missing: parse and store the text again.
  virtual Result<ingest::Imported> store() = 0;
  // How long the target wants to be left alone, after a store() that it could not do now. 0: it
  // does not say.
  [[nodiscard]] virtual std::chrono::milliseconds pause_asked() const {
    return std::chrono::milliseconds(0);
  }
};

class ImportTarget {
 public:
  virtual ~ImportTarget() = default;
  [[nodiscard]] virtual std::unique_ptr<ImportPart> new_part() = 0;
  // Finishes once everything that was stored before the call is durable.
  virtual Task<void> make_durable() = 0;

  // Points that store() took and that were refused later, since the last call.
  struct LateRefusals {
    std::uint64_t points = 0;
    std::string reason;  // of the first
  };
  [[nodiscard]] virtual LateRefusals take_late_refusals() { return {}; }
};

}  // namespace halite::app
