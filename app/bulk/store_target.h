// Imports into a store that this process has opened.
#pragma once

#include <functional>
#include <utility>

#include "app/bulk/import_target.h"

namespace halite::app {

class StoreTarget final : public ImportTarget {
 public:
  // The writer outlives the target and its parts. `make_durable`: of what it writes.
  StoreTarget(ingest::Writer& writer, ingest::ImportFormat format,
              std::function<Task<void>()> make_durable)
      : writer_(writer), format_(std::move(format)), make_durable_(std::move(make_durable)) {}

  [[nodiscard]] std::unique_ptr<ImportPart> new_part() override;
  Task<void> make_durable() override { return make_durable_(); }

 private:
  ingest::Writer& writer_;
  const ingest::ImportFormat format_;
  const std::function<Task<void>()> make_durable_;
};

}  // namespace halite::app
