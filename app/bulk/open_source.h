// Opens the source of an export or a migration: a store, or a server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/bulk/opened_data.h"
#include "app/bulk/point_source.h"
#include "app/bulk/store_source.h"
#include "app/client/http_client.h"
#include "app/settings/options.h"
#include "common/clock.h"

namespace halite::app {

// Which points to read, and from where: from the store of the options unless a URL is given.
struct SourceFlags {
  std::string url;  // of a running server
  PeerFiles peer;
  std::vector<std::string> match;  // "sys.cpu.*", "sys.cpu.user{host=web*}"; empty: all
  std::string start;               // a time as in queries; empty: the beginning
  std::string end;                 // likewise, not included; empty: the end of time
};

// The source and what is read of it, for checkpoints.
[[nodiscard]] std::string describe_source(const Options& options, const SourceFlags& flags);

struct OpenedSource {
  std::unique_ptr<OpenedData> data;  // null: a server
  std::unique_ptr<PointSource> source;
  TimeRange range;
};

// "METRIC" or "METRIC{TAG=FILTER,...}". kInvalidArgument: a text is neither.
[[nodiscard]] Result<std::vector<SourceMatch>> parse_matches(const std::vector<std::string>& texts);

// The span that the store of the options reads at once, in ms: a slot or a row.
[[nodiscard]] std::int64_t span_of(const Options& options);

// kInvalidArgument: a flag cannot be read.
[[nodiscard]] Result<OpenedSource> open_source(const Options& options, const SourceFlags& flags);

}  // namespace halite::app
