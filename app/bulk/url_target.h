// Imports into a running server, by HTTP: POST /api/put.
#pragma once

#include <utility>

#include "app/bulk/import_target.h"
#include "app/client/http_client.h"
#include "ingest/rules/point_rules.h"

namespace halite::app {

class UrlTarget final : public ImportTarget {
 public:
  UrlTarget(Peer peer, ingest::ImportFormat format, const ingest::IngestOptions& options)
      : peer_(std::move(peer)),
        format_(std::move(format)),
        rules_(options.limits, options.special_characters) {}

  // Whether the server answers.
  [[nodiscard]] Result<void> check() const;

  [[nodiscard]] std::unique_ptr<ImportPart> new_part() override;
  // The server has answered that they are.
  Task<void> make_durable() override { co_return Result<void>(); }

 private:
  const Peer peer_;
  const ingest::ImportFormat format_;
  const ingest::PointRules rules_;
};

}  // namespace halite::app
