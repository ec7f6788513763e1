// Imports into a store that this process has opened.
#pragma once

#include "app/bulk/import_target.h"
#include "storage/api/point_store.h"

namespace halite::app {

class StoreTarget final : public ImportTarget {
 public:
  // Both outlive the target and its parts. What the writer writes reaches the store.
  StoreTarget(ingest::Writer& writer, storage::PointStore& store)
      : writer_(writer), store_(store) {}

  [[nodiscard]] std::unique_ptr<ImportPart> new_part() override;
  Task<void> make_durable() override { return store_.flush(); }

 private:
  ingest::Writer& writer_;
  storage::PointStore& store_;
};

}  // namespace halite::app
