// Imports into a store that this process has opened.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "app/bulk/import_target.h"

namespace halite::app {

class StoreTarget final : public ImportTarget {
 public:
  // The writer outlives the target and its parts. `flush` makes durable what it writes.
  // `late_refusals` may be empty.
  StoreTarget(ingest::Writer& writer, ingest::ImportFormat format,
              std::function<Task<void>()> flush, std::function<LateRefusals()> late_refusals = {})
      : writer_(writer),
        format_(std::move(format)),
        flush_(std::move(flush)),
        late_refusals_(std::move(late_refusals)) {}

  [[nodiscard]] std::unique_ptr<ImportPart> new_part() override;
  Task<void> make_durable() override;
  [[nodiscard]] LateRefusals take_late_refusals() override {
    return late_refusals_ ? late_refusals_() : LateRefusals();
  }

 private:
  class Part;
  ingest::Writer& writer_;
  const ingest::ImportFormat format_;
  const std::function<Task<void>()> flush_;
  const std::function<LateRefusals()> late_refusals_;
  std::mutex mutex_;
  std::vector<Completion> written_;  // since the last make_durable(); guarded by mutex_
};

}  // namespace halite::app
