// Imports into a running server, by HTTP: POST /api/put.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "app/bulk/import_target.h"
#include "app/client/http_client.h"
#include "ingest/rules/point_rules.h"

namespace halite::app {

class UrlTarget final : public ImportTarget {
 public:
  // Asks the server how large a body may be: OpenTSDB's limit is small, and it refuses to read
  // more. An error if the server does not answer, or is neither Halite nor OpenTSDB. Where the
  // token may only write, nothing of this is known, and the server must take large bodies.
  static Result<std::unique_ptr<UrlTarget>> open(Peer peer, ingest::ImportFormat format,
                                                 const ingest::IngestOptions& options);

  [[nodiscard]] std::unique_ptr<ImportPart> new_part() override;
  // The server has answered that they are.
  Task<void> make_durable() override { co_return Result<void>(); }

 private:
  UrlTarget(Peer peer, ingest::ImportFormat format, const ingest::IngestOptions& options,
            std::size_t body_bytes_max)
      : peer_(std::move(peer)),
        format_(std::move(format)),
        rules_(options.limits, options.special_characters),
        body_bytes_max_(body_bytes_max) {}

  const Peer peer_;
  const ingest::ImportFormat format_;
  const ingest::PointRules rules_;
  const std::size_t body_bytes_max_;
};

}  // namespace halite::app
