// Imports into a store that this process has opened.
#pragma once

#include <utility>

#include "app/bulk/import_target.h"
#include "storage/api/point_store.h"

namespace halite::app {

class StoreTarget final : public ImportTarget {
 public:
  // Both outlive the target and its parts. What the writer writes reaches the store.
  StoreTarget(ingest::Writer& writer, storage::PointStore& store, ingest::ImportFormat format)
      : writer_(writer), store_(store), format_(std::move(format)) {}

  [[nodiscard]] std::unique_ptr<ImportPart> new_part() override;
  Task<void> make_durable() override { return store_.flush(); }

 private:
  ingest::Writer& writer_;
  storage::PointStore& store_;
  const ingest::ImportFormat format_;
};

}  // namespace halite::app
